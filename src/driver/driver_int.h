/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_int: what the files of driver share and nobody else needs.
 */
#ifndef PS_DRIVER_DRIVER_INT_H
#define PS_DRIVER_DRIVER_INT_H

#include "driver/driver.h"

/* driver_cpu.c: what this CPU and system can run, cut by PESTLE_CPU. */
typedef struct DriverCpu {
    const char *features; /* LLVM's list */
    int vector_bits;
} DriverCpu;
/* Fails when PESTLE_CPU asks for what does not exist. */
PsStatus driver_cpu(DriverCpu *out, PsDiag *diag) PS_MUST_CHECK;

/* driver_key.c */
PsStatus driver_key(const PsModule *m, int opt_level, const DriverCpu *cpu, PsHash *out) PS_MUST_CHECK;

/* driver_table.c: the executables of this process by key. */
typedef enum DriverFound {
    DRIVER_READY, /* *out is retained for the caller */
    DRIVER_MINE,  /* nobody has it: the caller makes it and calls driver_table_put, in any case */
    DRIVER_STOPPED,
} DriverFound;
/* Waits while another thread makes it, unless interrupted (or NULL). */
DriverFound driver_table_get(const PsHash *key, const volatile int32_t *interrupt, PsExecutable **out);
void driver_table_put(const PsHash *key, PsExecutable *exe); /* NULL: it could not be made */
/* The lock of everything that the driver makes once per process; short. Forks take it. */
void driver_lock(void);
void driver_unlock(void);
/* A fork waits while code is being generated: the child could not finish what other threads do inside LLVM. So does the
 * end of the process, which destroys LLVM's objects; after that begin gives false. */
bool driver_codegen_begin(void) PS_MUST_CHECK;
void driver_codegen_end(void);

/* driver_llvm.c: the code generator's entry. Between driver_codegen_begin and _end. */
PsStatus driver_llvm_open(PsCodegenEntryFn *out, PsDiag *diag) PS_MUST_CHECK;

/* driver_dump.c: what is printed to stderr on the way. */
bool driver_dumps(const char *list, const char *name);
PsStatus driver_dump_check(const char *list, PsDiag *diag) PS_MUST_CHECK; /* names only what exists */
void driver_dump_module(const char *list, const char *stage, const PsModule *m);
void driver_dump_text(const char *list, const char *stage, const PsBuf *text);
void driver_show_times(const char *kernel, const PsDriverTimes *times);
const char *driver_kernel_name(const PsModule *m);
uint64_t driver_clock_ns(void);

#endif
