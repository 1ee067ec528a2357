package receiver

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"sonde/storage"
	"sonde/storage/otlp"
)

const (
	// maxStreams is how many requests one connection may have under way: far
	// more than exporters use, few enough that one client cannot fill memory
	// with small ones.
	maxStreams = 256
	// minPing: grpc's default of 5 min closes the connections of clients that
	// are set to ping each 10 s, as many are.
	minPing = 10 * time.Second
	// handshakeTimeout is how long a connection may take to become HTTP/2.
	// Until then no stop can end it, and grpc's default is 2 min.
	handshakeTimeout = 5 * time.Second
)

// services are the full names of the gRPC services.
var services = map[otlp.Signal]string{
	otlp.Logs:    "opentelemetry.proto.collector.logs.v1.LogsService",
	otlp.Traces:  "opentelemetry.proto.collector.trace.v1.TraceService",
	otlp.Metrics: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}

// newGRPCServer returns a server of the three services and of grpc's health
// service. Generated stubs would decode requests, so the services are described
// by hand.
func (r *Receiver) newGRPCServer() (*grpc.Server, *health.Server) {
	server := grpc.NewServer(append(r.serverOptions(), grpc.ForceServerCodecV2(newRawCodec()))...)
	states := health.NewServer()
	for signal, name := range services {
		server.RegisterService(&grpc.ServiceDesc{
			ServiceName: name,
			HandlerType: (*any)(nil),
			Methods:     []grpc.MethodDesc{{MethodName: "Export", Handler: r.exportMethod(signal)}},
		}, r)
		states.SetServingStatus(name, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	grpc_health_v1.RegisterHealthServer(server, states)
	return server, states
}

// serverOptions are the settings of the server but for its codec.
func (r *Receiver) serverOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(int(r.options.MaxBodyBytes)),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
		grpc.UnaryInterceptor(r.recoverUnary),
		grpc.StreamInterceptor(r.guardStream),
	}
}

// exportMethod returns the handler of one Export method. The message is read
// inside the interceptor, after the token was checked, so that a refused client
// costs no memory and a panic of a decompressor is recovered too.
func (r *Receiver) exportMethod(s otlp.Signal) grpc.MethodHandler {
	info := &grpc.UnaryServerInfo{Server: r, FullMethod: "/" + services[s] + "/Export"}
	return func(_ any, ctx context.Context, read func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		return interceptor(ctx, nil, info, func(ctx context.Context, _ any) (any, error) {
			a, err := r.exportGRPC(ctx, s, read)
			if err != nil {
				return nil, r.grpcFailure(s, err)
			}
			return rawAnswer(a.proto()), nil
		})
	}
}

func (r *Receiver) exportGRPC(ctx context.Context, s otlp.Signal, read func(any) error) (answer, error) {
	header, _ := metadata.FromIncomingContext(ctx)
	var authorization string
	if values := header.Get("authorization"); len(values) > 0 {
		authorization = values[0]
	}
	if err := r.authorize(authorization); err != nil {
		return answer{}, err
	}
	var request rawRequest
	if err := read(&request); err != nil {
		return answer{}, r.readFailure(err)
	}
	return r.export(ctx, s, storage.GRPC, request.body)
}

// readFailure translates what grpc says when it cannot read a message. By then
// grpc has sent its own status, RESOURCE_EXHAUSTED or INTERNAL, which retries
// as little as ours; so this is for the counters.
func (r *Receiver) readFailure(err error) error {
	switch status.Code(err) {
	case codes.ResourceExhausted:
		return r.tooLarge()
	case codes.Internal: // the message of a compressor, about the client's bytes
		return fmt.Errorf("%w: %s", errCompression, status.Convert(err).Message())
	default:
		return fmt.Errorf("%w: %w", errBodyCut, err)
	}
}

// grpcFailure counts a failed request and returns what grpc is to send.
func (r *Receiver) grpcFailure(s otlp.Signal, err error) error {
	f := r.noteFailure(s, storage.GRPC, err)
	return f.grpcError()
}

// recoverUnary turns a panic into an error of the request that caused it.
func (r *Receiver) recoverUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (answer any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = r.grpcPanic(info.FullMethod, p)
		}
	}()
	return next(ctx, request)
}

// guardStream is recoverUnary for streams, of which the health service has one.
// It ends them when the receiver stops: a client that watches the health would
// otherwise hold up a graceful stop.
func (r *Receiver) guardStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = r.grpcPanic(info.FullMethod, p)
		}
	}()
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer context.AfterFunc(r.draining, cancel)()
	err = next(srv, &endingStream{stream, ctx})
	if ctx.Err() != nil && stream.Context().Err() == nil {
		return status.Error(codes.Unavailable, "shutting down")
	}
	return err
}

// endingStream is a stream with a context that ends earlier.
type endingStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *endingStream) Context() context.Context { return s.ctx }

func (r *Receiver) grpcPanic(method string, p any) error {
	r.options.Log.Error("panic while serving OTLP", "transport", storage.GRPC, "method", method, "panic", p, "stack", string(debug.Stack()))
	f, _ := failureOf(errPanic)
	return f.grpcError()
}
