package receiver

import (
	"testing"

	collectorlogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"sonde/storage/otlp"
)

// TestAnswers reads both encodings with the official types.
func TestAnswers(t *testing.T) {
	const reason = `2 items have <no> "id" ä`
	tests := []struct {
		signal      otlp.Signal
		full        proto.Message
		part        proto.Message
		partialJSON string
	}{
		{
			otlp.Logs, &collectorlogs.ExportLogsServiceResponse{},
			&collectorlogs.ExportLogsServiceResponse{PartialSuccess: &collectorlogs.ExportLogsPartialSuccess{RejectedLogRecords: 2, ErrorMessage: reason}},
			`{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"2 items have \u003cno\u003e \"id\" ä"}}`,
		},
		{
			otlp.Traces, &collectortrace.ExportTraceServiceResponse{},
			&collectortrace.ExportTraceServiceResponse{PartialSuccess: &collectortrace.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: reason}},
			`{"partialSuccess":{"rejectedSpans":"2","errorMessage":"2 items have \u003cno\u003e \"id\" ä"}}`,
		},
		{
			otlp.Metrics, &collectormetrics.ExportMetricsServiceResponse{},
			&collectormetrics.ExportMetricsServiceResponse{PartialSuccess: &collectormetrics.ExportMetricsPartialSuccess{RejectedDataPoints: 2, ErrorMessage: reason}},
			`{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"2 items have \u003cno\u003e \"id\" ä"}}`,
		},
	}
	for _, test := range tests {
		full, part := answer{signal: test.signal}, answer{test.signal, 2, reason}
		if got := full.proto(); len(got) != 0 {
			t.Errorf("full success of %v = %x, want no bytes", test.signal, got)
		}
		if got := string(full.json()); got != "{}" {
			t.Errorf("full success of %v = %s, want {}", test.signal, got)
		}
		if got := string(part.json()); got != test.partialJSON {
			t.Errorf("partial success of %v = %s, want %s", test.signal, got, test.partialJSON)
		}
		got := proto.Clone(test.full)
		if err := proto.Unmarshal(part.proto(), got); err != nil || !proto.Equal(got, test.part) {
			t.Errorf("partial success of %v = %v, %v, want %v", test.signal, got, err, test.part)
		}
		proto.Reset(got)
		if err := protojson.Unmarshal(part.json(), got); err != nil || !proto.Equal(got, test.part) {
			t.Errorf("partial success of %v as JSON = %v, %v, want %v", test.signal, got, err, test.part)
		}
	}
}
