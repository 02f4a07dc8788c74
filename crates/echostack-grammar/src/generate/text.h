/* Texts: a lexer splits them into tokens.
 *
 *     echostack_state stack[1024];
 *     uint8_t kept[ECHOSTACK_KEPT];
 *     echostack_text text;
 *     echostack_text_begin(&text, stack, 1024, kept, sizeof kept);
 *     while (... && echostack_text_read(&text, part, length)) ;
 *     if (echostack_text_end(&text) != ECHOSTACK_ACCEPT)
 *         ...                              text.fault, text.place, text.unexpected, echostack_fits(&text.reader, token)
 */

/* The number of bytes that the lexer may have to keep while it looks for a longer token. With less memory, or beyond
 * 65536 bytes, a text may end with ECHOSTACK_FULL. */
#define ECHOSTACK_KEPT @KEPT@

/* A place in a text: the number of bytes before it, and its line and column, counted from 1. Columns count
 * characters. */
typedef struct {
    uint64_t byte;
    uint64_t line;
    uint64_t column;
} echostack_place;

/* What is wrong with a text. */
typedef enum {
    ECHOSTACK_FAULT_NONE,
    /* The token text.unexpected cannot follow, or the given memory is too small for it. */
    ECHOSTACK_FAULT_TOKEN,
    /* The text ends too early. */
    ECHOSTACK_FAULT_END,
    /* No token begins here. */
    ECHOSTACK_FAULT_NO_TOKEN,
    /* This byte is not UTF-8. */
    ECHOSTACK_FAULT_NOT_UTF8,
    /* A limit of the lexer is reached: it would have to read the text again too often, or too many start states were
     * pushed, or the memory for text that is kept is too small. */
    ECHOSTACK_FAULT_LIMIT
} echostack_fault;

/* A session that reads one text. Only the first four members are meant for programs. */
typedef struct {
    echostack_reader reader;
    /* What is wrong, and where: set when echostack_text_read returns 0, and by echostack_text_end. */
    echostack_fault fault;
    echostack_place place;
    /* The number of the token that cannot follow. */
    size_t unexpected;

    /* Text that was read after the longest match so far: `length` bytes, to be read again from `at` on. The longest
     * match ended before `from`. */
    uint8_t *kept;
    size_t size, from, at, length;
    /* The number of bytes that were read again. */
    uint64_t reread;
    /* The place that was reached, the beginning of the current token, the end of its longest match, and the end of the
     * text so far, without white space. */
    echostack_place here, start, end, last;
    /* The rule of the longest match plus 1, or 0. */
    size_t longest;
    /* The start state, and how many are below it on their stack, which grows down from the end of the reader's. */
    size_t current, below;
    uint32_t state;
    /* Whether the current token consists of a carriage return that no rule matches. */
    int carriage_return;
    /* The bytes of a character that is not complete yet. */
    uint8_t letter[4];
    size_t letters;
} echostack_text;

/* Begins a text, with memory for a stack of `size` states and for `kept_size` bytes of text. */
void echostack_text_begin(echostack_text *text, echostack_state *stack, size_t size, uint8_t *kept, size_t kept_size);

/* Reads a part of a text, of any size, and returns whether the text can go on. */
int echostack_text_read(echostack_text *text, const void *part, size_t length);

/* Ends the text and returns the verdict. */
echostack_verdict echostack_text_end(echostack_text *text);

/* Checks a whole text: begins, reads and ends it. */
echostack_verdict echostack_check(echostack_text *text, const void *whole, size_t length, echostack_state *stack,
                                  size_t size, uint8_t *kept, size_t kept_size);

/* Returns the name of a token, also of those that the lexer knows but that occur in no word. Returns 0 if there is no
 * such token. */
const char *echostack_name(size_t token);
