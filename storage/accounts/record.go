package accounts

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	bolt "go.etcd.io/bbolt"
)

// Buckets of the file. FORMAT.md draws them.
var (
	bucketMeta           = []byte("meta")
	bucketUsers          = []byte("users")
	bucketUserEmails     = []byte("user_emails")
	bucketRoles          = []byte("roles")
	bucketTokens         = []byte("tokens")
	bucketTokenDigests   = []byte("token_digests")
	bucketCustomers      = []byte("customers")
	bucketCustomerEmails = []byte("customer_emails")
	bucketAudit          = []byte("audit")
)

// Keys of the bucket meta. The counts are kept because bbolt can only count by
// walking.
var (
	keyFormat        = []byte("format")
	keyCustomerCount = []byte("customer_count")
	keyAuditCount    = []byte("audit_count")
)

const (
	// fileFormat is the arrangement of buckets and keys.
	fileFormat = 1
	// valueVersion leads each value: version (1 byte), CRC-32C of what follows
	// (4, big endian), JSON.
	valueVersion = 1
	valueHeader  = 5
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// prepare makes the buckets of a new file and refuses a file of a later format.
func prepare(tx *bolt.Tx) error {
	for _, name := range [][]byte{
		bucketMeta, bucketUsers, bucketUserEmails, bucketRoles, bucketTokens, bucketTokenDigests,
		bucketCustomers, bucketCustomerEmails, bucketAudit,
	} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	format, found, err := get[int](tx, bucketMeta, keyFormat)
	switch {
	case err != nil:
		return err
	case !found:
		return put(tx, bucketMeta, keyFormat, fileFormat)
	case format != fileFormat:
		return fmt.Errorf("file has format %d, this program reads %d", format, fileFormat)
	}
	return nil
}

func encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := make([]byte, valueHeader, valueHeader+len(body))
	out[0] = valueVersion
	binary.BigEndian.PutUint32(out[1:], crc32.Checksum(body, castagnoli))
	return append(out, body...), nil
}

func decode[T any](value []byte) (v T, err error) {
	switch {
	case len(value) < valueHeader:
		return v, fmt.Errorf("value of %d bytes is too short", len(value))
	case value[0] != valueVersion:
		return v, fmt.Errorf("value has version %d, this program reads %d", value[0], valueVersion)
	case binary.BigEndian.Uint32(value[1:]) != crc32.Checksum(value[valueHeader:], castagnoli):
		return v, errors.New("value is damaged: wrong checksum")
	}
	err = json.Unmarshal(value[valueHeader:], &v)
	return v, err
}

// get returns the value of a key, and whether there is one.
func get[T any](tx *bolt.Tx, bucket, key []byte) (v T, found bool, err error) {
	raw := tx.Bucket(bucket).Get(key)
	if raw == nil {
		return v, false, nil
	}
	v, err = decodeAt[T](bucket, key, raw)
	return v, err == nil, err
}

// decodeAt is decode with the place in the error.
func decodeAt[T any](bucket, key, raw []byte) (T, error) {
	v, err := decode[T](raw)
	if err != nil {
		return v, fmt.Errorf("%s %x: %w", bucket, key, err)
	}
	return v, nil
}

func put(tx *bolt.Tx, bucket, key []byte, v any) error {
	raw, err := encode(v)
	if err != nil {
		return err
	}
	return tx.Bucket(bucket).Put(key, raw)
}

// each calls fn with every value of a bucket in key order.
func each[T any](tx *bolt.Tx, bucket []byte, fn func(key []byte, v T) error) error {
	return tx.Bucket(bucket).ForEach(func(key, raw []byte) error {
		v, err := decodeAt[T](bucket, key, raw)
		if err != nil {
			return err
		}
		return fn(key, v)
	})
}

// count reads a counter of the bucket meta; one never written is 0.
func count(tx *bolt.Tx, key []byte) (uint64, error) {
	n, _, err := get[uint64](tx, bucketMeta, key)
	return n, err
}
