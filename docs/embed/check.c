/* Checks standard input with a recognizer that `echostack compile --emit c --prefix json_` wrote. It needs no library, no
   allocation, and one pass over the text, which comes in parts. */
#include <stdio.h>
#include "json.h"

int main(void)
{
    static json_state stack[100000];
    static uint8_t kept[JSON_KEPT];
    static json_text text;
    char part[4096];
    size_t length, token;
    json_text_begin(&text, stack, sizeof stack / sizeof *stack, kept, sizeof kept);
    do
        length = fread(part, 1, sizeof part, stdin);
    while (json_text_read(&text, part, length) && length > 0);
    if (json_text_end(&text) == JSON_ACCEPT) {
        puts("valid");
        return 0;
    }
    printf("%d:%d: not valid", (int)text.place.line, (int)text.place.column);
    for (token = 0; token < JSON_TOKENS; token++)
        if (json_fits(&text.reader, token))
            printf(", expected %s", json_tokens[token]);
    printf("\n");
    return 1;
}
