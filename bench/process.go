package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A command is one side of a comparison.
type command struct {
	args []string
	dir  string
	env  []string
}

// A result is the cost of one run of a command.
type result struct {
	wall   time.Duration
	cpu    time.Duration // of the process and the ones that it started, on all cores
	memory int64         // peak resident, in bytes; 0 where the system does not tell
	stdout []byte
}

// run runs the command and reads its output through a pipe. An exit status other than 0 is an error.
func (c command) run(ctx context.Context) (result, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return result{}, fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, tail(stderr.Bytes()))
	}
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return result{wall: wall, cpu: cpu, memory: peakMemory(cmd.ProcessState), stdout: stdout.Bytes()}, nil
}

// alone runs the command and returns its peak memory, without its child processes if the system can tell.
func (c command) alone(ctx context.Context) (int64, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	stop := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	peak := stop()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(c.args, " "), err, tail(stderr.Bytes()))
	}
	if peak == 0 {
		peak = peakMemory(cmd.ProcessState)
	}
	return peak, nil
}

func tail(b []byte) []byte {
	const most = 2000
	return bytes.TrimSpace(b[max(0, len(b)-most):])
}

// A comparison measures two commands against each other.
type comparison struct {
	ken, other command
	rounds     int
	processor  bool // compare processor time: a busy machine changes it less than wall time
	// before prepares each round, and after cleans up. They are not timed, and may be nil.
	before, after func(ctx context.Context, round int) error
	// beforeKen prepares each run of ken alone, beforeOther each of the other side.
	beforeKen, beforeOther func() error
	// sees returns a text that the output of both sides must contain. It may be nil.
	sees func(round int) string
}

// measure runs the two sides alternately: one round that does not count, then the given rounds. It returns the median
// wall or processor times and the peak memory of ken.
func (d comparison) measure(ctx context.Context) (ken, other time.Duration, memory int64, err error) {
	var kens, others []time.Duration
	for round := range d.rounds + 1 {
		k, o, err := d.round(ctx, round)
		if err != nil {
			return 0, 0, 0, err
		}
		memory = max(memory, k.memory)
		switch {
		case round == 0:
		case d.processor:
			kens = append(kens, k.cpu)
			others = append(others, o.cpu)
		default:
			kens = append(kens, k.wall)
			others = append(others, o.wall)
		}
	}
	return median(kens), median(others), memory, nil
}

func (d comparison) round(ctx context.Context, n int) (ken, other result, err error) {
	if d.before != nil {
		if err := d.before(ctx, n); err != nil {
			return ken, other, err
		}
	}
	sides := []func() error{
		func() error {
			if d.beforeKen != nil {
				if err := d.beforeKen(); err != nil {
					return err
				}
			}
			ken, err = d.side(ctx, n, d.ken)
			return err
		},
		func() error {
			if d.beforeOther != nil {
				if err := d.beforeOther(); err != nil {
					return err
				}
			}
			other, err = d.side(ctx, n, d.other)
			return err
		},
	}
	if n%2 == 1 {
		slices.Reverse(sides)
	}
	for _, side := range sides {
		if err := side(); err != nil {
			return ken, other, err
		}
	}
	if d.after != nil {
		err = d.after(ctx, n)
	}
	return ken, other, err
}

func (d comparison) side(ctx context.Context, n int, c command) (result, error) {
	r, err := c.run(ctx)
	if err == nil && d.sees != nil && !bytes.Contains(r.stdout, []byte(d.sees(n))) {
		err = fmt.Errorf("%s does not mention %s: %s", strings.Join(c.args, " "), d.sees(n), tail(r.stdout))
	}
	return r, err
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	n := len(ds)
	if n%2 == 1 {
		return ds[n/2]
	}
	return (ds[n/2-1] + ds[n/2]) / 2
}
