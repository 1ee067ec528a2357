package otlp

// op says what Walk does with the value of a field.
type op uint8

const (
	opUnknown op = iota // not a field of the message, or not with this wire type
	opVarint
	opFixed32
	opFixed64
	opTime     // fixed64: the time of the item
	opObserved // fixed64: the time of the item when opTime gives none

	// From here on the value is length-delimited.
	opBytes
	opString
	opMessage
	opAttribute // a KeyValue message
	opValue     // an AnyValue message
	opNested    // a message that counts towards MaxDepth
	opChild     // a message that is not part of its parent's envelope
	opTraceID
	opSpanID
	opOwnTraceID // of a span; must be valid
	opOwnSpanID
	opPackedVarint
	opPackedFixed64
)

// firstLen is the first op of a length-delimited value.
const firstLen = opBytes

// wire returns the wire type that the op reads.
func (o op) wire() uint8 {
	switch {
	case o >= firstLen:
		return wireLen
	case o == opVarint:
		return wireVarint
	case o == opFixed32:
		return wireFixed32
	}
	return wireFixed64
}

// idWidth returns how many bytes the id of an id op has.
func (o op) idWidth() int {
	if o == opTraceID || o == opOwnTraceID {
		return 16
	}
	return 8
}

// unpacked returns the op that reads a single element of a packed field.
func (o op) unpacked() (op, bool) {
	switch o {
	case opPackedVarint:
		return opVarint, true
	case opPackedFixed64:
		return opFixed64, true
	}
	return opUnknown, false
}

type field struct {
	name string // as in the .proto file
	op   op
	sub  *message // of messages only
}

// level is the place of a message in a request.
type level uint8

const (
	levelNone level = iota
	levelRequest
	levelResource
	levelScope
	levelMetric
	levelData // Gauge, Sum and so on: the part of a Metric that holds the points
	levelItem
)

// lastField is the highest field number in the messages of OTLP, but for
// deprecatedScope.
const lastField = 16

// numFields is the size of a message's table: a power of two, so that an index
// needs no check.
const numFields = 32

// deprecatedScope is the number that scope_logs and its twins had in OTLP 0.15
// and before, along with their own. Senders of that age are still around.
const deprecatedScope = 1000

// message describes a message type.
type message struct {
	level  level
	fields [numFields]field // by field number; [0] is the unknown field
	ops    [256]op          // by tag, for tags of one byte: fields 1-15
}

// index returns the place of a field number in fields.
func (m *message) index(num uint32) uint32 {
	switch {
	case num <= lastField:
		return num
	case num == deprecatedScope && m.level == levelResource:
		return 2
	}
	return 0
}

// set adds the field with the given number.
func (m *message) set(num uint8, name string, o op, sub *message) {
	m.fields[num] = field{name: name, op: o, sub: sub}
	m.setOp(num, o)
	if single, ok := o.unpacked(); ok {
		m.setOp(num, single)
	}
}

func (m *message) setOp(num uint8, o op) {
	if num < 16 { // of a higher number the tag takes two bytes
		m.ops[num<<3|o.wire()] = o
	}
}

// fieldSpec is a line of the tables below.
type fieldSpec struct {
	num  uint8
	name string
	op   op
	sub  *message
}

func newMessage(l level, specs ...fieldSpec) *message {
	m := &message{level: l}
	m.add(specs...)
	return m
}

func (m *message) add(specs ...fieldSpec) {
	for _, s := range specs {
		m.set(s.num, s.name, s.op, s.sub)
	}
}

// The message types of a request, by signal. They are never written to.
var requestTypes = newRequestTypes()

func newRequestTypes() (types [Metrics + 1]*message) {
	c := newCommonTypes()
	types[Logs] = c.request("logs", "log_records", newLogRecord(c))
	types[Traces] = c.request("spans", "spans", newSpan(c))
	types[Metrics] = c.request("metrics", "metrics", newMetric(c))
	return types
}

// commonTypes are the messages that all signals share.
type commonTypes struct{ anyValue, keyValue, resource, scope *message }

func newCommonTypes() *commonTypes {
	anyValue, keyValue := newMessage(levelNone), newMessage(levelNone)
	keyValue.add(
		fieldSpec{KeyValueKey, "key", opString, nil},
		fieldSpec{KeyValueValue, "value", opValue, anyValue},
		fieldSpec{3, "key_strindex", opVarint, nil},
	)
	anyValue.add(
		fieldSpec{AnyValueString, "string_value", opString, nil},
		fieldSpec{AnyValueBool, "bool_value", opVarint, nil},
		fieldSpec{AnyValueInt, "int_value", opVarint, nil},
		fieldSpec{AnyValueDouble, "double_value", opFixed64, nil},
		fieldSpec{AnyValueArray, "array_value", opNested, newMessage(levelNone,
			fieldSpec{ArrayValueValues, "values", opValue, anyValue})},
		fieldSpec{AnyValueKvlist, "kvlist_value", opNested, newMessage(levelNone,
			fieldSpec{KeyValueListValues, "values", opAttribute, keyValue})},
		fieldSpec{AnyValueBytes, "bytes_value", opBytes, nil},
		fieldSpec{8, "string_value_strindex", opVarint, nil},
	)
	return &commonTypes{
		anyValue: anyValue,
		keyValue: keyValue,
		resource: newMessage(levelNone,
			fieldSpec{ResourceAttributes, "attributes", opAttribute, keyValue},
			fieldSpec{2, "dropped_attributes_count", opVarint, nil},
			fieldSpec{3, "entity_refs", opMessage, newMessage(levelNone,
				fieldSpec{1, "schema_url", opString, nil},
				fieldSpec{2, "type", opString, nil},
				fieldSpec{3, "id_keys", opString, nil},
				fieldSpec{4, "description_keys", opString, nil},
			)},
		),
		scope: newMessage(levelNone,
			fieldSpec{ScopeName, "name", opString, nil},
			fieldSpec{ScopeVersion, "version", opString, nil},
			fieldSpec{ScopeAttributes, "attributes", opAttribute, keyValue},
			fieldSpec{4, "dropped_attributes_count", opVarint, nil},
		),
	}
}

// request returns the Export request of a signal: plural is what its fields
// are named after, children the field of the scope's items or metrics.
func (c *commonTypes) request(plural, children string, child *message) *message {
	scope := newMessage(levelScope,
		fieldSpec{ScopeEnvelopeScope, "scope", opMessage, c.scope},
		fieldSpec{scopeChildren, children, opChild, child},
		fieldSpec{ScopeEnvelopeSchemaURL, "schema_url", opString, nil},
	)
	resource := newMessage(levelResource,
		fieldSpec{ResourceEnvelopeResource, "resource", opMessage, c.resource},
		fieldSpec{resourceScopes, "scope_" + plural, opChild, scope},
		fieldSpec{ResourceEnvelopeSchemaURL, "schema_url", opString, nil},
	)
	return newMessage(levelRequest, fieldSpec{requestResources, "resource_" + plural, opChild, resource})
}

// Numbers of the fields that hold the children of an envelope.
const (
	requestResources = 1
	resourceScopes   = 2
	scopeChildren    = 2
	dataPoints       = 1
)

func newLogRecord(c *commonTypes) *message {
	return newMessage(levelItem,
		fieldSpec{LogRecordTimeUnixNano, "time_unix_nano", opTime, nil},
		fieldSpec{LogRecordSeverityNumber, "severity_number", opVarint, nil},
		fieldSpec{LogRecordSeverityText, "severity_text", opString, nil},
		fieldSpec{LogRecordBody, "body", opValue, c.anyValue},
		fieldSpec{LogRecordAttributes, "attributes", opAttribute, c.keyValue},
		fieldSpec{LogRecordDroppedAttributesCount, "dropped_attributes_count", opVarint, nil},
		fieldSpec{LogRecordFlags, "flags", opFixed32, nil},
		fieldSpec{LogRecordTraceID, "trace_id", opTraceID, nil},
		fieldSpec{LogRecordSpanID, "span_id", opSpanID, nil},
		fieldSpec{LogRecordObservedTimeUnixNano, "observed_time_unix_nano", opObserved, nil},
		fieldSpec{LogRecordEventName, "event_name", opString, nil},
	)
}

func newSpan(c *commonTypes) *message {
	event := newMessage(levelNone,
		fieldSpec{1, "time_unix_nano", opFixed64, nil},
		fieldSpec{2, "name", opString, nil},
		fieldSpec{3, "attributes", opAttribute, c.keyValue},
		fieldSpec{4, "dropped_attributes_count", opVarint, nil},
	)
	link := newMessage(levelNone,
		fieldSpec{1, "trace_id", opTraceID, nil},
		fieldSpec{2, "span_id", opSpanID, nil},
		fieldSpec{3, "trace_state", opString, nil},
		fieldSpec{4, "attributes", opAttribute, c.keyValue},
		fieldSpec{5, "dropped_attributes_count", opVarint, nil},
		fieldSpec{6, "flags", opFixed32, nil},
	)
	status := newMessage(levelNone,
		fieldSpec{StatusMessage, "message", opString, nil},
		fieldSpec{StatusCode, "code", opVarint, nil},
	)
	return newMessage(levelItem,
		fieldSpec{SpanTraceID, "trace_id", opOwnTraceID, nil},
		fieldSpec{SpanSpanID, "span_id", opOwnSpanID, nil},
		fieldSpec{SpanTraceState, "trace_state", opString, nil},
		fieldSpec{SpanParentSpanID, "parent_span_id", opSpanID, nil},
		fieldSpec{SpanName, "name", opString, nil},
		fieldSpec{SpanKind, "kind", opVarint, nil},
		fieldSpec{SpanStartTimeUnixNano, "start_time_unix_nano", opTime, nil},
		fieldSpec{SpanEndTimeUnixNano, "end_time_unix_nano", opFixed64, nil},
		fieldSpec{SpanAttributes, "attributes", opAttribute, c.keyValue},
		fieldSpec{SpanDroppedAttributesCount, "dropped_attributes_count", opVarint, nil},
		fieldSpec{SpanEvents, "events", opMessage, event},
		fieldSpec{SpanDroppedEventsCount, "dropped_events_count", opVarint, nil},
		fieldSpec{SpanLinks, "links", opMessage, link},
		fieldSpec{SpanDroppedLinksCount, "dropped_links_count", opVarint, nil},
		fieldSpec{SpanStatus, "status", opMessage, status},
		fieldSpec{SpanFlags, "flags", opFixed32, nil},
	)
}
