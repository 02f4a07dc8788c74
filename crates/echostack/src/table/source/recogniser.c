/* A recogniser made by echostack. It needs no library.
 *
 *     echostack_state stack[1024];
 *     echostack_reader reader;
 *     echostack_begin(&reader, stack, 1024);
 *     while (... && echostack_read(&reader, token)) ;     tokens are places in echostack_tokens
 *     echostack_end(&reader)                              the verdict; reader.position says where
 */
#include <stddef.h>
#include <stdint.h>

/* What is known of a stack. */
typedef @STATE@ echostack_state;

/* The tokens; a token is read by its place in this list. */
#define ECHOSTACK_TOKENS @TERMINALS@
const char *const echostack_tokens[ECHOSTACK_TOKENS + 1] = {@TOKENS@};

/* By how much a stack must be longer than the symbols that lie on it. */
#define ECHOSTACK_ROOM @ROOM@

typedef enum {
    /* The word is in the language. */
    ECHOSTACK_ACCEPT,
    /* The word is the beginning of one, but no whole one. */
    ECHOSTACK_INCOMPLETE,
    /* The token at reader.position, counted from 0, cannot stand where it stands. */
    ECHOSTACK_REJECT,
    /* The stack that was given is too small for the token at reader.position. */
    ECHOSTACK_FULL
} echostack_verdict;

/* The reading of one word. */
typedef struct {
    echostack_state *stack;
    size_t size;
    size_t depth;
    uint64_t position;
    /* 0: the word goes on; else the verdict, counted from 1. */
    int ended;
} echostack_reader;

#define ECHOSTACK_STATES @STATES@

/* By token and state, then by what is pushed. The lowest byte is 0: refuse, 1: accept, 2: pop and go on elsewhere, 3: push up
 * to three states, 4: push a part of echostack_pushed. */
static const uint64_t echostack_actions[@COUNT@] = {
@ACTIONS@};

static const echostack_state echostack_pushed[@MANY@ + 1] = {@PUSHED@};

/* Begins a word with a stack of this many states. */
void echostack_begin(echostack_reader *reader, echostack_state *stack, size_t size)
{
    reader->stack = stack;
    reader->size = size;
    reader->depth = 0;
    reader->position = 0;
    reader->ended = size == 0 ? ECHOSTACK_FULL + 1 : 0;
    if (size > 0)
        stack[0] = 0;
}

/* Looks at a token, or at the end as one token more: what is done, and at which depth. */
static uint64_t echostack_look(const echostack_reader *reader, size_t token, size_t *depth)
{
    uint64_t action;
    *depth = reader->depth;
    if (token > ECHOSTACK_TOKENS)
        return 0;
    action = echostack_actions[token * ECHOSTACK_STATES + reader->stack[*depth]];
    while ((action & 0xff) == 2) {
        size_t pop = (size_t)(action >> 16 & 0xffff);
        if (pop > *depth)
            return 0;
        *depth -= pop;
        action = echostack_actions[(size_t)(action >> 32) + reader->stack[*depth]];
    }
    return action;
}

/* Reads a token and says whether it can stand here. After one that cannot, all others are refused. */
int echostack_read(echostack_reader *reader, size_t token)
{
    uint64_t action;
    size_t depth, count, i;
    echostack_state *room;
    if (reader->ended)
        return 0;
    if (reader->depth + ECHOSTACK_ROOM > reader->size) {
        reader->ended = ECHOSTACK_FULL + 1;
        return 0;
    }
    action = token < ECHOSTACK_TOKENS ? echostack_look(reader, token, &depth) : 0;
    count = (size_t)(action >> 8 & 0xff);
    switch (action & 0xff) {
    case 3:
        room = reader->stack + depth + 1;
        room[0] = (echostack_state)(action >> 16);
        room[1] = (echostack_state)(action >> 32);
        room[2] = (echostack_state)(action >> 48);
        break;
    case 4:
        room = reader->stack + depth + 1;
        for (i = 0; i < count; i++)
            room[i] = echostack_pushed[(size_t)(action >> 32) + i];
        break;
    default:
        reader->ended = ECHOSTACK_REJECT + 1;
        return 0;
    }
    reader->depth = depth + count;
    reader->position++;
    return 1;
}

/* Whether a token could be read now, or ECHOSTACK_TOKENS: whether the word could end. After a refusal: whether it could have
 * stood there. */
int echostack_fits(const echostack_reader *reader, size_t token)
{
    size_t depth;
    return reader->depth + ECHOSTACK_ROOM <= reader->size && (echostack_look(reader, token, &depth) & 0xff) != 0;
}

/* The verdict, if the word ends here. */
echostack_verdict echostack_end(const echostack_reader *reader)
{
    size_t depth;
    if (reader->ended)
        return (echostack_verdict)(reader->ended - 1);
    return (echostack_look(reader, ECHOSTACK_TOKENS, &depth) & 0xff) == 1 ? ECHOSTACK_ACCEPT : ECHOSTACK_INCOMPLETE;
}
