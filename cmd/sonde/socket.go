package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
)

const (
	socketName = "sonde.sock"
	// maxSocketPath is what every system has room for in a socket's address:
	// 104 bytes on some, 108 on Linux, with the zero that ends it.
	maxSocketPath = 103
)

// reachSocket returns an address of the socket of the folder that is valid
// until release. A long path is replaced by a way through the open folder.
func reachSocket(dir string) (address string, release func() error, err error) {
	address = filepath.Join(dir, socketName)
	if len(address) <= maxSocketPath {
		return address, func() error { return nil }, nil
	}
	if runtime.GOOS != "linux" {
		return "", nil, fmt.Errorf("path %q is longer than the %d bytes that a socket's may have; choose a shorter data folder", address, maxSocketPath)
	}
	d, err := os.Open(dir) //nolint:gosec // the operator names the folder
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), socketName), d.Close, nil
}

// dialSocket connects to the server that runs on the folder.
func dialSocket(ctx context.Context, dir string) (net.Conn, error) {
	address, release, err := reachSocket(dir)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", address)
	if e := release(); e != nil && err == nil {
		return nil, errors.Join(e, conn.Close())
	}
	return conn, err
}

// listenAdmin opens the socket. The folder's lock is held, so a socket file
// that is there was left behind by a kill.
func listenAdmin(dir string) (net.Listener, error) {
	path := filepath.Join(dir, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot remove the old admin socket: %w", err)
	}
	address, release, err := reachSocket(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open the admin socket: %w", err)
	}
	l, err := net.Listen("unix", address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the admin socket: %w", err), release())
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot close the admin socket to others: %w", err), l.Close(), release())
	}
	return &socketListener{l, release}, nil
}

// socketListener frees the way to its address once that is removed.
type socketListener struct {
	net.Listener
	release func() error
}

func (l *socketListener) Close() error { return errors.Join(l.Listener.Close(), l.release()) }
