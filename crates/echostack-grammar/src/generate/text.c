/* The names of tokens that the lexer knows, but that occur in no word. Their numbers begin after ECHOSTACK_TOKENS. */
#define ECHOSTACK_OTHERS @OTHERS@
static const char *const echostack_others[ECHOSTACK_OTHERS + 1] = {@OTHER_NAMES@};

/* What the rules of the lexer do: produce a token, unless it is ECHOSTACK_TOKENS, and change the start state. The
 * change is 0: none, 1: replace the whole stack of start states, 2: replace the topmost one, 3: push, 4: pop. The last
 * rule skips a carriage return before a line feed. */
typedef struct {
    uint32_t token;
    uint32_t change;
    uint32_t to;
} echostack_rule;

static const echostack_rule echostack_rules[@RULES@] = {
@RULE_LIST@
};

/* The automaton of a start state. State 0 is dead; those from `accepting` on match a rule; nothing can follow those from
 * `last` on. */
typedef struct {
    const uint8_t *classes;
    const @ROW@ *next;
    const @RULE@ *rules;
    uint32_t width, start, accepting, last;
} echostack_automaton;

@AUTOMATA@
/* The limits of the lexer: on text that is kept, on how often text is read again on average, and on start states. */
#define ECHOSTACK_MAX_KEPT @MAX_KEPT@
#define ECHOSTACK_MAX_REREAD @MAX_REREAD@
#define ECHOSTACK_MAX_BELOW @MAX_BELOW@

const char *echostack_name(size_t token)
{
    if (token < ECHOSTACK_TOKENS)
        return echostack_tokens[token];
    if (token > ECHOSTACK_TOKENS && token - ECHOSTACK_TOKENS <= ECHOSTACK_OTHERS)
        return echostack_others[token - ECHOSTACK_TOKENS - 1];
    return 0;
}

void echostack_text_begin(echostack_text *text, echostack_state *stack, size_t size, uint8_t *kept, size_t kept_size)
{
    static const echostack_place first = {0, 1, 1};
    echostack_begin(&text->reader, stack, size);
    text->fault = ECHOSTACK_FAULT_NONE;
    text->here = text->start = text->end = text->last = text->place = first;
    text->unexpected = ECHOSTACK_TOKENS;
    text->kept = kept;
    text->size = kept_size < ECHOSTACK_MAX_KEPT ? kept_size : ECHOSTACK_MAX_KEPT;
    text->from = text->at = text->length = 0;
    text->reread = 0;
    text->longest = 0;
    text->current = text->below = 0;
    text->state = echostack_automata[0].start;
    text->carriage_return = 0;
    text->letters = 0;
}

/* Ends the text early. Returns 0. */
static int echostack_stop(echostack_text *text, echostack_fault fault, echostack_place place)
{
    if (!text->reader.ended)
        text->reader.ended = ECHOSTACK_REJECT + 1;
    text->fault = fault;
    text->place = place;
    return 0;
}

/* Ends the text early because the given memory is too small. Returns 0. */
static int echostack_stop_full(echostack_text *text)
{
    text->reader.ended = ECHOSTACK_FULL + 1;
    return echostack_stop(text, ECHOSTACK_FAULT_LIMIT, text->start);
}

static void echostack_pass(echostack_place *place, uint8_t byte)
{
    place->byte++;
    if (byte == '\n') {
        place->line++;
        place->column = 1;
    } else if ((byte & 0xc0) != 0x80) {
        place->column++;
    }
}

/* Changes the start state as a rule says. A start state on the stack takes two of its elements. */
static int echostack_change(echostack_text *text, const echostack_rule *rule)
{
    echostack_reader *reader = &text->reader;
    echostack_state *top;
    switch (rule->change) {
    case 1:
        reader->size += 2 * text->below;
        text->below = 0;
        text->current = rule->to;
        break;
    case 2:
        text->current = rule->to;
        break;
    case 3:
        if (text->below >= ECHOSTACK_MAX_BELOW)
            return echostack_stop(text, ECHOSTACK_FAULT_LIMIT, text->start);
        if (reader->depth + 3 > reader->size)
            return echostack_stop_full(text);
        reader->size -= 2;
        text->below++;
        top = reader->stack + reader->size;
        top[0] = (echostack_state)(text->current & 0xff);
        top[1] = (echostack_state)(text->current >> 8 & 0xff);
        text->current = rule->to;
        break;
    case 4:
        text->current = 0;
        if (text->below > 0) {
            top = reader->stack + reader->size;
            text->current = (size_t)top[0] | (size_t)top[1] << 8;
            reader->size += 2;
            text->below--;
        }
        break;
    default:
        break;
    }
    return 1;
}

/* Ends the current token with its longest match, and goes back to the end of that match. */
static int echostack_accept(echostack_text *text)
{
    const echostack_rule *rule = &echostack_rules[text->longest - 1];
    text->reread += text->length - text->from;
    if (text->reread > ECHOSTACK_MAX_REREAD * (text->here.byte + ECHOSTACK_MAX_KEPT))
        return echostack_stop(text, ECHOSTACK_FAULT_LIMIT, text->start);
    if (rule->token != ECHOSTACK_TOKENS && !echostack_read(&text->reader, rule->token)) {
        text->unexpected = rule->token;
        return echostack_stop(text, ECHOSTACK_FAULT_TOKEN, text->start);
    }
    if (!echostack_change(text, rule))
        return 0;
    text->at = text->from;
    text->here = text->start = text->end;
    text->longest = 0;
    text->carriage_return = 0;
    text->state = echostack_automata[text->current].start;
    return 1;
}

/* Keeps a byte that was read after the longest match. */
static int echostack_keep(echostack_text *text, uint8_t byte)
{
    size_t i;
    if (text->length == text->size && text->from > 0) {
        for (i = text->from; i < text->length; i++)
            text->kept[i - text->from] = text->kept[i];
        text->length -= text->from;
        text->from = 0;
    }
    if (text->length == text->size)
        return echostack_stop_full(text);
    text->kept[text->length++] = byte;
    text->at = text->length;
    return 1;
}

/* Reads the bytes that must be read again, and then another byte unless that is negative. */
static int echostack_bytes(echostack_text *text, int more)
{
    for (;;) {
        const echostack_automaton *automaton = &echostack_automata[text->current];
        int again = text->at < text->length;
        uint8_t byte;
        uint32_t next;
        if (!again && more < 0)
            return 1;
        byte = again ? text->kept[text->at] : (uint8_t)more;
        if (text->carriage_return && byte == '\n') {
            text->longest = @RULES@;
            text->end = text->here;
            text->from = text->at;
        }
        next = automaton->next[text->state * automaton->width + automaton->classes[byte]];
        if (next == 0 && text->longest) {
            if (!echostack_accept(text))
                return 0;
            continue;
        }
        if (next == 0 && (byte != '\r' || text->here.byte != text->start.byte))
            return echostack_stop(text, ECHOSTACK_FAULT_NO_TOKEN, text->start);
        text->carriage_return = byte == '\r' && text->here.byte == text->start.byte && next < automaton->accepting;
        echostack_pass(&text->here, byte);
        text->state = next;
        if (again)
            text->at++;
        if (next >= automaton->accepting) {
            text->longest = (size_t)automaton->rules[next - automaton->accepting] + 1;
            text->end = text->here;
            if (!again)
                text->at = text->length = 0;
            text->from = text->at;
            if (next >= automaton->last && !echostack_accept(text))
                return 0;
        } else if (!again && !text->longest) {
            text->from = text->at = text->length = 0;
        } else if (!again && !echostack_keep(text, byte)) {
            return 0;
        }
        if (!again)
            return 1;
    }
}

/* Returns whether the bytes of a character are 1: complete, 0: not yet, -1: not UTF-8. */
static int echostack_utf8(const uint8_t *letter, size_t count)
{
    uint8_t first = letter[0];
    size_t i, needed = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4)
        return -1;
    for (i = 1; i < count; i++)
        if ((letter[i] & 0xc0) != 0x80)
            return -1;
    if (count > 1 && ((first == 0xe0 && letter[1] < 0xa0) || (first == 0xed && letter[1] > 0x9f) ||
                      (first == 0xf0 && letter[1] < 0x90) || (first == 0xf4 && letter[1] > 0x8f)))
        return -1;
    return count == needed;
}

/* Returns whether a character is white space. */
static int echostack_is_space(const uint8_t *letter, size_t count)
{
    if (count == 1)
        return letter[0] == ' ' || (letter[0] >= '\t' && letter[0] <= '\r');
    if (count == 2)
        return letter[0] == 0xc2 && (letter[1] == 0x85 || letter[1] == 0xa0);
    if (count != 3)
        return 0;
    switch (letter[0]) {
    case 0xe1:
        return letter[1] == 0x9a && letter[2] == 0x80;
    case 0xe2:
        if (letter[1] == 0x80)
            return letter[2] <= 0x8a || letter[2] == 0xa8 || letter[2] == 0xa9 || letter[2] == 0xaf;
        return letter[1] == 0x81 && letter[2] == 0x9f;
    case 0xe3:
        return letter[1] == 0x80 && letter[2] == 0x80;
    default:
        return 0;
    }
}

/* Reads a character. A byte order mark at the beginning of the text is skipped. */
static int echostack_letter(echostack_text *text)
{
    const uint8_t *letter = text->letter;
    size_t i, count = text->letters;
    text->letters = 0;
    if (text->here.byte == 0 && count == 3 && letter[0] == 0xef && letter[1] == 0xbb && letter[2] == 0xbf) {
        for (i = 0; i < count; i++)
            echostack_pass(&text->here, letter[i]);
        text->start = text->here;
    } else {
        for (i = 0; i < count; i++)
            if (!echostack_bytes(text, letter[i]))
                return 0;
    }
    if (!echostack_is_space(letter, count))
        text->last = text->here;
    return 1;
}

int echostack_text_read(echostack_text *text, const void *part, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)part;
    size_t i;
    if (text->reader.ended)
        return 0;
    for (i = 0; i < length; i++) {
        int complete;
        text->letter[text->letters++] = bytes[i];
        complete = echostack_utf8(text->letter, text->letters);
        if (complete < 0)
            return echostack_stop(text, ECHOSTACK_FAULT_NOT_UTF8, text->here);
        if (complete && !echostack_letter(text))
            return 0;
    }
    return 1;
}

echostack_verdict echostack_text_end(echostack_text *text)
{
    echostack_verdict verdict;
    if (!text->reader.ended && text->letters > 0)
        echostack_stop(text, ECHOSTACK_FAULT_NOT_UTF8, text->here);
    while (!text->reader.ended && text->here.byte > text->start.byte) {
        if (!text->longest)
            echostack_stop(text, ECHOSTACK_FAULT_NO_TOKEN, text->start);
        else if (echostack_accept(text))
            echostack_bytes(text, -1);
    }
    verdict = echostack_end(&text->reader);
    if (verdict != ECHOSTACK_ACCEPT && text->fault == ECHOSTACK_FAULT_NONE) {
        text->fault = ECHOSTACK_FAULT_END;
        text->place = text->last;
    }
    return verdict;
}

echostack_verdict echostack_check(echostack_text *text, const void *whole, size_t length, echostack_state *stack,
                                  size_t size, uint8_t *kept, size_t kept_size)
{
    echostack_text_begin(text, stack, size, kept, kept_size);
    echostack_text_read(text, whole, length);
    return echostack_text_end(text);
}
