/* A state, which represents what is known about a stack. */
typedef @STATE@ echostack_state;

/* The tokens. A token is read by its number. */
typedef enum {
@ENUM@
} echostack_token;

/* The number of tokens. As a token, this number is the end of the word. */
#define ECHOSTACK_TOKENS @TERMINALS@

/* The names of the tokens, by their numbers. */
extern const char *const echostack_tokens[ECHOSTACK_TOKENS + 1];

/* The number of states by which a stack must be longer than the number of symbols on it. */
#define ECHOSTACK_ROOM @ROOM@

typedef enum {
    /* The word is in the language. */
    ECHOSTACK_ACCEPT,
    /* The word is a proper prefix of a word in the language, but not in the language itself. */
    ECHOSTACK_INCOMPLETE,
    /* The token at reader.position, counted from 0, cannot follow. */
    ECHOSTACK_REJECT,
    /* The given memory is too small for the token at reader.position. */
    ECHOSTACK_FULL
} echostack_verdict;

/* A session that reads one word. */
typedef struct {
    echostack_state *stack;
    size_t size;
    size_t depth;
    uint64_t position;
    /* 0 if the word continues, otherwise the verdict plus 1. */
    int ended;
} echostack_reader;

/* Begins a word, with memory for a stack of `size` states. */
void echostack_begin(echostack_reader *reader, echostack_state *stack, size_t size);

/* Reads a token and returns whether it can follow. After one that cannot, all others are refused. */
int echostack_read(echostack_reader *reader, size_t token);

/* Returns whether a token could be read now, or, for ECHOSTACK_TOKENS, whether the word could end here. After a
 * refusal, returns whether the token was possible instead. */
int echostack_fits(const echostack_reader *reader, size_t token);

/* Returns the verdict on the word if it ends here. */
echostack_verdict echostack_end(const echostack_reader *reader);
