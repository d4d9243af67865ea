package queue

import "time"

// Polling returns options with an interval of polling each queue.
func (opts WorkOptions) Polling(every time.Duration) WorkOptions {
	opts.poll = every
	return opts
}
