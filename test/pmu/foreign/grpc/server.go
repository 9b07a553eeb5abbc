// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build example

package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"pmu/foreign/records"
)

// A service has a method of each kind that gRPC knows. Each has a task of its own: a child of
// the call's, which it has to find in the context.
type service struct {
	pb.UnimplementedTestServiceServer
}

func work(ctx context.Context) (end func()) {
	_, end = records.Begin(ctx, "work")
	return end
}

func (service) UnaryCall(ctx context.Context, _ *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	defer work(ctx)()
	return new(pb.SimpleResponse), nil
}

func (service) EmptyCall(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	defer work(ctx)()
	return nil, status.Error(codes.NotFound, "as always")
}

func (service) StreamingOutputCall(_ *pb.StreamingOutputCallRequest, s grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error {
	defer work(s.Context())()
	for range 3 {
		if err := s.Send(new(pb.StreamingOutputCallResponse)); err != nil {
			return err
		}
	}
	return nil
}

func (service) StreamingInputCall(s grpc.ClientStreamingServer[pb.StreamingInputCallRequest, pb.StreamingInputCallResponse]) error {
	defer work(s.Context())()
	for {
		if _, err := s.Recv(); err == io.EOF {
			return s.SendAndClose(new(pb.StreamingInputCallResponse))
		} else if err != nil {
			return err
		}
	}
}

func (service) FullDuplexCall(s grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
	defer work(s.Context())()
	for {
		if _, err := s.Recv(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.Send(new(pb.StreamingOutputCallResponse)); err != nil {
			return err
		}
	}
}

// server serves until it is told how many tasks it has recorded.
func server() (*records.Reader, int) {
	r := start(serverID)
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer(serverTasks...)
	pb.RegisterTestServiceServer(s, service{})
	go s.Serve(l)
	fmt.Println(l.Addr())
	n := 0
	if _, err := fmt.Fscan(os.Stdin, &n); err != nil {
		log.Fatal(err)
	}
	s.GracefulStop()
	return r, n
}
