const char *const echostack_tokens[ECHOSTACK_TOKENS + 1] = {@TOKENS@};

#define ECHOSTACK_STATES @STATES@
#define ECHOSTACK_ACTIONS @COUNT@

/* The actions by token and state, followed by those for the symbols that are pushed. The lowest byte is 0: refuse, 1:
 * accept, 2: pop and continue at another index, 3: push up to three states, 4: push a part of echostack_pushed. */
static const uint64_t echostack_actions[ECHOSTACK_ACTIONS] = {
@ACTIONS@};

static const echostack_state echostack_pushed[@MANY@ + 1] = {@PUSHED@};

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

/* Looks at a token, or at the end of the word, which counts as one more token. Returns the action, and sets the
 * depth at which it applies. */
static uint64_t echostack_look(const echostack_reader *reader, size_t token, size_t *depth)
{
    uint64_t action;
    *depth = reader->depth;
    if (token > ECHOSTACK_TOKENS)
        return 0;
    action = echostack_actions[token * ECHOSTACK_STATES + reader->stack[*depth]];
    while ((action & 0xff) == 2) {
        size_t next = (size_t)(action >> 32), pop = (size_t)(action >> 16 & 0xffff);
        if (pop > *depth)
            return 0;
        *depth -= pop;
        next += reader->stack[*depth];
        /* Only in a table that was tampered with is there no such action. */
        action = next < ECHOSTACK_ACTIONS ? echostack_actions[next] : 0;
    }
    return action;
}

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

int echostack_fits(const echostack_reader *reader, size_t token)
{
    size_t depth;
    return reader->depth + ECHOSTACK_ROOM <= reader->size && (echostack_look(reader, token, &depth) & 0xff) != 0;
}

echostack_verdict echostack_end(const echostack_reader *reader)
{
    size_t depth;
    if (reader->ended)
        return (echostack_verdict)(reader->ended - 1);
    return (echostack_look(reader, ECHOSTACK_TOKENS, &depth) & 0xff) == 1 ? ECHOSTACK_ACCEPT : ECHOSTACK_INCOMPLETE;
}
