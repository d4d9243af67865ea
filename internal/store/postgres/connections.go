package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// connections is a pool that several stores of one database share. acquire opens it for the first user, and release
// closes it after the last.
type connections struct {
	config *pgxpool.Config

	mu    sync.Mutex
	pool  *pgxpool.Pool
	users int
}

func (c *connections) acquire(ctx context.Context) (*pgxpool.Pool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pool == nil {
		pool, err := pgxpool.NewWithConfig(ctx, c.config.Copy())
		if err != nil {
			return nil, err
		}
		c.pool = pool
	}
	c.users++
	return c.pool, nil
}

func (c *connections) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users == 0 {
		c.pool.Close()
		c.pool = nil
	}
}
