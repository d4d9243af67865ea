package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// connections are those that stores of one database use together. They are made for the first
// and ended with the last.
type connections struct {
	config *pgxpool.Config

	mu   sync.Mutex
	pool *pgxpool.Pool
	used int
}

func (c *connections) join(ctx context.Context) (*pgxpool.Pool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pool == nil {
		pool, err := pgxpool.NewWithConfig(ctx, c.config.Copy())
		if err != nil {
			return nil, err
		}
		c.pool = pool
	}
	c.used++
	return c.pool, nil
}

func (c *connections) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used--; c.used == 0 {
		c.pool.Close()
		c.pool = nil
	}
}
