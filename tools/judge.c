/* Judges many texts with a recognizer that `echostack compile --emit c` wrote: for tools/exports.py. On standard input, each
   text follows its length in bytes and a line feed. Writes 1 or 0 for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recognizer.h"

#define STACK 1000000

static echostack_state stack[STACK];

#ifdef ECHOSTACK_KEPT
static int accepts(char *text, size_t length)
{
    static uint8_t kept[ECHOSTACK_KEPT];
    static echostack_text reader;
    return echostack_check(&reader, text, length, stack, STACK, kept, sizeof kept) == ECHOSTACK_ACCEPT;
}
#else
/* Without a lexer, a text has the names of tokens, with white space between them. */
static int accepts(char *text, size_t length)
{
    static echostack_reader reader;
    const char *name;
    size_t token;
    text[length] = 0;
    echostack_begin(&reader, stack, STACK);
    for (name = strtok(text, " \t\r\n"); name; name = strtok(NULL, " \t\r\n")) {
        for (token = 0; token < ECHOSTACK_TOKENS && strcmp(name, echostack_tokens[token]); token++)
            ;
        if (token == ECHOSTACK_TOKENS || !echostack_read(&reader, token))
            return 0;
    }
    return echostack_end(&reader) == ECHOSTACK_ACCEPT;
}
#endif

int main(void)
{
    unsigned long length;
    char *text;
    while (scanf("%lu", &length) == 1 && getchar() == '\n') {
        text = malloc(length + 1);
        if (!text || fread(text, 1, length, stdin) != length)
            return 1;
        putchar(accepts(text, length) ? '1' : '0');
        free(text);
    }
    return 0;
}
