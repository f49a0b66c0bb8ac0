/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_table: the executables of this process by key, so that two kernels with the same code share it and two
 * threads do not compile it twice. The first who asks for a key gets an entry that says "being made"; others wait.
 *
 * The lock guards the table and what else the driver makes once (CPU features, the store), and is held for no longer
 * than that takes; nobody waits for an entry while holding it. A fork takes it, so that the child finds all of this
 * whole, and first waits until no thread is inside the code generator, which the child could not use otherwise. In
 * the child nobody makes anything any more.
 */
#include "driver/driver_int.h"

#include "rt/rt.h"

#include <limits.h>
#include <string.h>

#define BUCKETS     512
#define SWEEP_FIRST 1024 /* from so many entries on, those that nobody uses are dropped now and then */

typedef struct Entry {
    struct Entry *next;
    PsHash key;
    PsExecutable *exe; /* one reference; NULL: being made */
} Entry;

static struct Table {
    PsLock lock;
    uint32_t changed; /* atomic; waiters for entries sleep on it */
    uint32_t making;  /* atomic; threads inside the code generator; forks sleep on it */
    bool hooked, closed, awaits_end;
    size_t len, sweep_at;
    Entry *buckets[BUCKETS];
} table;

/* -- fork -- */

static void before_fork(void) {
    for (;;) {
        ps_rt_lock(&table.lock);
        uint32_t making = __atomic_load_n(&table.making, __ATOMIC_ACQUIRE);
        if (!making) return;
        ps_rt_unlock(&table.lock);
        ps_rt_wait(&table.making, making, -1);
    }
}

static void after_fork(void) { ps_rt_unlock(&table.lock); }

static void in_child(void) {
    for (size_t i = 0; i < BUCKETS; i++) {
        for (Entry **at = &table.buckets[i]; *at;) {
            Entry *entry = *at;
            if (entry->exe) {
                at = &entry->next;
                continue;
            }
            *at = entry->next;
            ps_free(entry);
            table.len--;
        }
    }
    ps_rt_unlock(&table.lock);
}

void driver_lock(void) {
    ps_rt_lock(&table.lock);
    if (!table.hooked) table.hooked = ps_rt_on_fork(before_fork, after_fork, in_child);
}

void driver_unlock(void) { ps_rt_unlock(&table.lock); }

bool driver_codegen_begin(void) {
    driver_lock();
    bool open = !table.closed;
    if (open) __atomic_fetch_add(&table.making, 1, __ATOMIC_ACQ_REL);
    driver_unlock();
    return open;
}

void driver_codegen_end(void) {
    __atomic_fetch_sub(&table.making, 1, __ATOMIC_ACQ_REL);
    ps_rt_wake(&table.making, INT_MAX);
}

void ps_driver_close(void) {
    before_fork(); /* nobody is inside the code generator, and the table is locked */
    table.closed = true;
    table.awaits_end = false;
    ps_rt_unlock(&table.lock);
}

bool ps_driver_open(void) {
    driver_lock();
    bool first = !table.awaits_end;
    table.awaits_end = true;
    table.closed = false;
    driver_unlock();
    return first;
}

/* -- the table -- */

static Entry **find(const PsHash *key) {
    uint32_t bucket;
    memcpy(&bucket, key->bytes, sizeof bucket);
    Entry **at = &table.buckets[bucket % BUCKETS];
    while (*at && memcmp(&(*at)->key, key, sizeof *key) != 0) at = &(*at)->next;
    return at;
}

/* Drops the executables that only the table holds: nobody else can come to hold them while it is locked. */
static void sweep(void) {
    for (size_t i = 0; i < BUCKETS; i++) {
        for (Entry **at = &table.buckets[i]; *at;) {
            Entry *entry = *at;
            if (!entry->exe || __atomic_load_n(&entry->exe->refs, __ATOMIC_ACQUIRE) > 1) {
                at = &entry->next;
                continue;
            }
            *at = entry->next;
            ps_executable_release(entry->exe);
            ps_free(entry);
            table.len--;
        }
    }
    table.sweep_at = table.len * 2 > SWEEP_FIRST ? table.len * 2 : SWEEP_FIRST;
}

/* Without memory there is no entry, and another thread may make the same thing: no harm. */
static void insert(const PsHash *key) {
    if (!table.sweep_at) table.sweep_at = SWEEP_FIRST;
    if (table.len >= table.sweep_at) sweep();
    Entry **at = find(key), *entry = ps_alloc(sizeof *entry);
    if (!entry) return;
    *entry = (Entry){.next = *at, .key = *key};
    *at = entry;
    table.len++;
}

#define LOOK_NS 20000000 /* between two looks at the interrupt: a signal need not come to this thread */

DriverFound driver_table_get(const PsHash *key, const volatile int32_t *interrupt, PsExecutable **out) {
    driver_lock();
    for (;;) {
        Entry *entry = *find(key);
        if (!entry) break;
        if (entry->exe) {
            ps_executable_retain(entry->exe);
            *out = entry->exe;
            driver_unlock();
            return DRIVER_READY;
        }
        uint32_t seen = __atomic_load_n(&table.changed, __ATOMIC_ACQUIRE);
        driver_unlock();
        if (interrupt && __atomic_load_n(interrupt, __ATOMIC_RELAXED)) return DRIVER_STOPPED;
        ps_rt_wait(&table.changed, seen, interrupt ? LOOK_NS : -1);
        driver_lock();
    }
    insert(key);
    driver_unlock();
    return DRIVER_MINE;
}

void driver_table_put(const PsHash *key, PsExecutable *exe) {
    driver_lock();
    Entry **at = find(key), *entry = *at;
    if (entry && exe && !entry->exe) {
        ps_executable_retain(exe);
        entry->exe = exe;
    } else if (entry && !entry->exe) {
        *at = entry->next;
        ps_free(entry);
        table.len--;
    }
    __atomic_fetch_add(&table.changed, 1, __ATOMIC_RELEASE);
    driver_unlock();
    ps_rt_wake(&table.changed, INT_MAX);
}
