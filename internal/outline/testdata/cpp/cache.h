#ifndef CACHE_H_
#define CACHE_H_

#include "export.h"

LIB_BEGIN_NAMESPACE

class Cache;

// Creates a cache. The caller owns it.
LIB_EXPORT Cache* NewCache(size_t capacity);

// A cache of anything.
class LIB_EXPORT Cache {
 public:
  DISALLOW_COPY(Cache)
  virtual ~Cache();
  // Forgets it.
  virtual void Erase(const Key& key) LOCKS_EXCLUDED(mu_) = 0;
  int size() const SHARED_LOCKS_REQUIRED(mu_) { return MAX_SIZE; }

 private:
  Mutex mu_;
  int used_ GUARDED_BY(mu_);
};

void Ignore(void* data LIB_UNUSED, int n);

LIB_END_NAMESPACE

#endif
