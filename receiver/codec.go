package receiver

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// rawRequest is the message type of the Export methods on the way in: its bytes
// as they came.
type rawRequest struct{ body []byte }

// rawAnswer is their message type on the way out: an encoded message.
type rawAnswer []byte

// rawCodec hands over raw messages undecoded and leaves all others, such as
// those of the health service, to the codec of protobuf messages.
type rawCodec struct{ messages encoding.CodecV2 }

func newRawCodec() rawCodec { return rawCodec{encoding.GetCodecV2(proto.Name)} }

func (c rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	if raw, ok := v.(rawAnswer); ok {
		return mem.BufferSlice{mem.SliceBuffer(raw)}, nil
	}
	return c.messages.Marshal(v)
}

func (c rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	if raw, ok := v.(*rawRequest); ok {
		// A copy: grpc takes its buffers back, the Writer keeps the bytes.
		raw.body = data.Materialize()
		return nil
	}
	return c.messages.Unmarshal(data, v)
}

func (c rawCodec) Name() string { return c.messages.Name() }
