// Counts words.

#include "list.h"

static int verbose = 0;
const int limit = 10;
char *names[] = {"a // b", "c"};

/**
 * Runs it.
 */
int
main(int argc, char **argv)
{
	if (argc > 1) { puts("x"); }
	return 0;
}

static void usage(void) { }
