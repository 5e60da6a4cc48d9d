/* Runs functions that `emulated.py` compiled for arm64, in QEMU: requests come on stdin, answers go to stdout.

   'L' count path                                       -> handle, 0 where it cannot be loaded
   'C' handle first end rounds, three counts of bytes   -> -1 where memory is taken, else where it came to, the fault's
       and bytes (arguments, grid, regions),               five numbers, and the bytes of all ranges
       maps: count, (start stop)...
       ranges: count, (start stop bytes)...
   Numbers have 8 bytes. Maps are whole pages, and lie where they lie in the process that asks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef int64_t (*Function)(void *, int64_t, int64_t, void *, void *, void *, int64_t *);
enum { SCRATCH = 1 << 30 };

static void take(void *into, size_t count) {
    if (count && fread(into, 1, count, stdin) != count) exit(0);
}

static int64_t number(void) {
    int64_t found;
    take(&found, sizeof found);
    return found;
}

static void give(const void *from, size_t count) { fwrite(from, 1, count, stdout); }

static void *taken(size_t count) {
    void *into = aligned_alloc(64, (count + 64) / 64 * 64);
    take(into, count);
    return into;
}

static void ask(int64_t *rounds) { *rounds = 1 << 30; }

static void load(void) {
    size_t count = number();
    char *path = calloc(count + 1, 1);
    take(path, count);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    int64_t handle = library ? (int64_t)dlsym(library, "run") : 0;
    give(&handle, sizeof handle);
    free(path);
}

static void call(char *scratch) {
    Function function = (Function)number();
    int64_t first = number(), end = number(), rounds = number();
    size_t counts[3] = {number(), number(), number()};
    void *arguments = taken(counts[0]), *grid = taken(counts[1]), *regions = taken(counts[2]);
    int64_t maps = number(), good = 1, (*map)[2] = taken(maps * sizeof *map);
    for (int64_t k = 0; k < maps; k++) {
        void *at = (void *)map[k][0];
        /* Without MAP_FIXED nothing is lost where something lies already. */
        void *found = mmap(at, map[k][1] - map[k][0], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        good &= found == at;
        map[k][0] = (int64_t)found, map[k][1] -= (int64_t)at;
    }
    int64_t ranges = number(), (*range)[2] = calloc(ranges + 1, sizeof *range);
    for (int64_t k = 0; k < ranges; k++) {
        take(range[k], sizeof *range);
        size_t size = range[k][1] - range[k][0];
        if (good)
            take((void *)range[k][0], size);
        else
            free(taken(size));
    }
    int64_t fault[5] = {0, 0, rounds, (int64_t)ask, 0}, came = -1;
    if (good) came = function(arguments, first, end, grid, regions, scratch, fault);
    give(&came, sizeof came);
    if (good) {
        give(fault, sizeof fault);
        for (int64_t k = 0; k < ranges; k++) give((void *)range[k][0], range[k][1] - range[k][0]);
    }
    for (int64_t k = 0; k < maps; k++) munmap((void *)map[k][0], map[k][1]);
    free(arguments), free(grid), free(regions), free(map), free(range);
}

int main(void) {
    char *scratch = mmap(0, SCRATCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (int asked; (asked = getchar()) != EOF; fflush(stdout)) asked == 'L' ? load() : call(scratch);
    return 0;
}
