/* Small things about text. */
#include <string.h>

void cut_line_end(char *text) {
    text[strcspn(text, "\r\n")] = '\0';
}
