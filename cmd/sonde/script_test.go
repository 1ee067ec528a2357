package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is sonde itself when it is called by that name: scripts and
// processes under test run the real main.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"sonde": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ready": scriptReady,
			"post":  scriptPost,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// scriptReady waits for a ready file: `ready FILE`. It sets GRPC, OTLP_HTTP and
// HTTP to the addresses, SONDE_URL to the face.
func scriptReady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ready FILE")
	}
	at, err := waitReady(ts.MkAbs(args[0]), 20*time.Second)
	ts.Check(err)
	ts.Setenv("GRPC", at.GRPC)
	ts.Setenv("OTLP_HTTP", at.OTLPHTTP)
	ts.Setenv("HTTP", at.HTTP)
	ts.Setenv("SONDE_URL", "http://"+at.HTTP)
}

// addresses is the content of a ready file.
type addresses struct {
	GRPC     string `json:"otlp_grpc"`
	OTLPHTTP string `json:"otlp_http"`
	HTTP     string `json:"http"`
}

// waitReady looks for a ready file until it is there.
func waitReady(file string, patience time.Duration) (at addresses, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &at)
			return at, err
		}
		select {
		case <-ctx.Done():
			return at, fmt.Errorf("no ready file after %s: %w", patience, err)
		case <-look.C:
		}
	}
}

// scriptPost posts a file of OTLP JSON: `post PATH FILE`, answered by 200 (not
// by 200 with !).
func scriptPost(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: post PATH FILE")
	}
	body := ts.ReadFile(args[1])
	resp, err := http.Post("http://"+ts.Getenv("OTLP_HTTP")+args[0], "application/json", bytes.NewReader([]byte(body)))
	ts.Check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s %s\n", resp.Status, text)
	if (resp.StatusCode == http.StatusOK) == neg {
		ts.Fatalf("post %s: got %s %s", args[0], resp.Status, text)
	}
}

// process is a sonde that was started by a test.
type process struct {
	*os.Process
	at     addresses
	stderr *os.File
	done   chan struct{} // closed when the process has ended
}

// startProcess runs the real main as a process of its own on the folder and
// waits until it is ready. It is killed at the end of the test.
func startProcess(t *testing.T, data, masterToken string, flags ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "sonde")
	if err := os.Symlink(self, binary); err != nil {
		t.Fatal(err)
	}
	p := &process{done: make(chan struct{})}
	if p.stderr, err = os.Create(filepath.Join(dir, "stderr")); err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(dir, "ready.json")
	args := append([]string{binary, "serve", "--data", data, "--ready-file", ready,
		"--otlp-grpc", "127.0.0.1:0", "--otlp-http", "127.0.0.1:0", "--listen", "127.0.0.1:0"}, flags...)
	p.Process, err = os.StartProcess(binary, args, &os.ProcAttr{
		Env:   append(os.Environ(), "SONDE_MASTER_TOKEN="+masterToken),
		Files: []*os.File{nil, p.stderr, p.stderr},
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_, _ = p.Wait() // how it ended is for the tests to judge by what is left
	}()
	t.Cleanup(func() {
		p.end(os.Kill)
		if text, err := os.ReadFile(p.stderr.Name()); err == nil && t.Failed() {
			t.Logf("server said:\n%s", text)
		}
		_ = p.stderr.Close()
	})
	if p.at, err = waitReady(ready, 30*time.Second); err != nil {
		t.Fatal(err)
	}
	return p
}

// end sends the signal and waits for the process to be gone.
func (p *process) end(sig os.Signal) {
	_ = p.Signal(sig) // it may have ended already
	<-p.done
}
