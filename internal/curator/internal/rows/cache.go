package rows

import (
	"context"
	"slices"
	"sync"

	"github.com/dpglm/dpglm/internal/check"
)

// Cache keeps the values that were made last.
type Cache[V any] struct {
	Lock   sync.Mutex
	keys   []string // the latest last
	of     []V
	making map[string]chan struct{} // closed when it is made, or isn't to be had
}

// Get returns the value of a key, and keeps so many. One who asks makes it, without the lock;
// others who ask for the same wait for that, until their contexts end. Where it fails the next
// one tries.
func (c *Cache[V]) Get(ctx context.Context, key string, most int, create func() (V, error)) (V, error) {
	for {
		v, ok, others := c.find(key)
		if ok {
			return v, nil
		}
		if others == nil {
			return c.fill(key, most, create)
		}
		select {
		case <-others:
		case <-ctx.Done():
			return v, check.Cancelled(ctx)
		}
	}
}

// find returns the value, if it is there, or what is closed when another one has made it: nil if
// it is for the caller to make.
func (c *Cache[V]) find(key string) (v V, ok bool, others chan struct{}) {
	c.Lock.Lock()
	defer c.Lock.Unlock()
	if i := slices.Index(c.keys, key); i >= 0 {
		return c.of[i], true, nil
	}
	if others = c.making[key]; others == nil {
		if c.making == nil {
			c.making = map[string]chan struct{}{}
		}
		c.making[key] = make(chan struct{})
	}
	return v, false, others
}

// fill makes the value, and lets those go on who wait for it, also where it ends by a panic.
func (c *Cache[V]) fill(key string, most int, create func() (V, error)) (v V, err error) {
	made := false
	defer func() {
		c.Lock.Lock()
		defer c.Lock.Unlock()
		if made {
			if len(c.keys) >= most {
				c.keys, c.of = slices.Delete(c.keys, 0, 1), slices.Delete(c.of, 0, 1)
			}
			c.keys, c.of = append(c.keys, key), append(c.of, v)
		}
		close(c.making[key])
		delete(c.making, key)
	}()
	v, err = create()
	made = err == nil
	return v, err
}
