// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build example

package main

import (
	"context"
	"io"
	"log"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"pmu/foreign/records"
)

// A call is one that client makes, with the code that it has to end with.
type call struct {
	name string
	do   func(ctx context.Context, c pb.TestServiceClient) error
	code codes.Code
}

var calls = []call{
	{"unary", unary, codes.OK},
	{"unary that fails", func(ctx context.Context, c pb.TestServiceClient) error {
		_, err := c.EmptyCall(ctx, new(pb.Empty))
		return err
	}, codes.NotFound},
	{"server's stream", func(ctx context.Context, c pb.TestServiceClient) error {
		s, err := c.StreamingOutputCall(ctx, new(pb.StreamingOutputCallRequest))
		if err != nil {
			return err
		}
		return drain(s)
	}, codes.OK},
	{"client's stream", func(ctx context.Context, c pb.TestServiceClient) error {
		s, err := c.StreamingInputCall(ctx)
		if err != nil {
			return err
		}
		for range 3 {
			if err := s.Send(new(pb.StreamingInputCallRequest)); err != nil {
				return err
			}
		}
		_, err = s.CloseAndRecv()
		return err
	}, codes.OK},
	{"both streams", func(ctx context.Context, c pb.TestServiceClient) error { return duplex(ctx, c, nil) }, codes.OK},
	{"both streams, canceled", func(ctx context.Context, c pb.TestServiceClient) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return duplex(ctx, c, func() error { cancel(); return nil })
	}, codes.Canceled},
	{"both streams, refused", func(ctx context.Context, c pb.TestServiceClient) error {
		return duplex(context.WithValue(ctx, refusedKey{}, true), c, nil)
	}, codes.Aborted},
	// The last one is two: what runs at a time has no order.
	{"both streams, a unary meanwhile", func(ctx context.Context, c pb.TestServiceClient) error {
		return duplex(ctx, c, func() error { return unary(ctx, c) })
	}, codes.OK},
}

type refusedKey struct{}

// refuse is an interceptor within the example's, which then has no stream to wait for.
func refuse(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if ctx.Value(refusedKey{}) != nil {
		return nil, status.Error(codes.Aborted, "refused")
	}
	return stream(ctx, desc, cc, method, opts...)
}

func unary(ctx context.Context, c pb.TestServiceClient) error {
	_, err := c.UnaryCall(ctx, new(pb.SimpleRequest))
	return err
}

// duplex calls meanwhile when the server has answered once.
func duplex(ctx context.Context, c pb.TestServiceClient, meanwhile func() error) error {
	s, err := c.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	if err := s.Send(new(pb.StreamingOutputCallRequest)); err != nil {
		return err
	}
	if _, err := s.Recv(); err != nil {
		return err
	}
	if meanwhile != nil {
		if err := meanwhile(); err != nil {
			return err
		}
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	return drain(s)
}

// drain receives to the end, which is when a stream's client has the trailer.
func drain(s interface {
	Recv() (*pb.StreamingOutputCallResponse, error)
}) error {
	for {
		if _, err := s.Recv(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// client makes the calls, first without a task and then one after the other in one.
func client(address string) (*records.Reader, int) {
	conn, err := grpc.NewClient(address, append(clientTasks,
		grpc.WithChainStreamInterceptor(refuse), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		log.Fatal(err)
	}
	c := pb.NewTestServiceClient(conn)
	all := func(ctx context.Context) {
		for _, call := range calls {
			if err := call.do(ctx, c); status.Code(err) != call.code {
				log.Fatalf("%s: %v", call.name, err)
			}
		}
	}
	all(context.Background())
	r := start(clientID)
	ctx, end := records.Begin(context.Background(), "client")
	all(ctx)
	end()
	return r, len(calls) + 2 // the unary one meanwhile, and the task itself
}
