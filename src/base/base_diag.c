/* SPDX-License-Identifier: Apache-2.0
 *
 * base_diag: the table of messages and the record of the first one said. Not here: printing, colours, source lines
 * (py adds those) or collecting more than one message.
 */
#include "base/base.h"

#include <stdio.h>

typedef struct MessageInfo {
    PsErrorKind kind;
    const char *text;
} MessageInfo;

static const MessageInfo messages[PS_MSG_COUNT] = {
#define PS_MSG(id, kind, text) [PS_MSG_##id] = {PS_ERR_##kind, text},
#include "base/messages.def"
};

static const char *const notes[PS_NOTE_COUNT][2] = {
#define PS_NOTE(id, topic, text) [PS_NOTE_##id] = {topic, text},
#include "base/notes.def"
};

const char *ps_note_topic(PsNoteId id) { return notes[id][0]; }

const char *ps_note_text(PsNoteId id) { return notes[id][1]; }

PsErrorKind ps_message_kind(PsMessageId id) { return messages[id].kind; }

const char *ps_message_text(PsMessageId id) { return messages[id].text; }

void ps_diag_init(PsDiag *diag, PsArena *arena) { *diag = (PsDiag){.arena = arena}; }

static const char *format_text(PsArena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = len < 0 ? NULL : ps_arena_alloc(arena, (size_t)len + 1);
    if (!text) return format; /* better than nothing when memory is short */
    vsnprintf(text, (size_t)len + 1, format, args);
    return text;
}

PsStatus ps_diag_fail(PsDiag *diag, PsSpan span, PsMessageId id, ...) {
    if (diag->set) return PS_FAIL;
    diag->set = true;
    PsMessage *message = &diag->message;
    *message = (PsMessage){.id = id, .kind = messages[id].kind, .span = span};
    va_list args;
    va_start(args, id);
    message->text = format_text(diag->arena, messages[id].text, args);
    va_end(args);
    if (!diag->calls.len) return PS_FAIL;
    message->chain = ps_arena_alloc(diag->arena, diag->calls.len * sizeof *message->chain);
    if (!message->chain) return PS_FAIL;
    message->nchain = diag->calls.len;
    for (uint32_t i = 0; i < message->nchain; i++)
        message->chain[i] = diag->calls.data[message->nchain - 1 - i];
    return PS_FAIL;
}
