/* Lists that know their length. */

#ifndef LIST_H
#define LIST_H

#include <stddef.h>
#include "alloc.h"

#define LIST_MAX 100 /* at most */
#define LIST_EACH(l, i) \
	for (i = 0; i < (l)->len; i++)

#ifdef __cplusplus
extern "C" {
#endif

/* One list. */
typedef struct list {
	size_t len;     /* how many */
	void **items, *spare;
	int (*compare)(const void *, const void *);
	union { int a; float b; } u;
} list;

enum color { RED, GREEN = 5, /* the nice one */ BLUE };

typedef unsigned long word_t;
struct opaque;

/* Makes a list. Free it with list_free. */
list *list_new(size_t cap);
void list_free(list *l), list_clear(list *l);
extern const char *list_version;

static inline size_t list_len(const list *l)
{
	return l->len; // no lock
}

#ifdef __cplusplus
}
#endif
#endif
