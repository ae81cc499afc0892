/* The notes on disk: one line for each, `name<TAB>text`. */
#include <stdio.h>
#include <string.h>

int db_put(const char *path, const char *name, const char *text) {
    // TODO: replace an older note of the same name
    FILE *file = fopen(path, "a");
    if (file == NULL)
        return -1;
    fprintf(file, "%s\t%s\n", name, text);
    return fclose(file);
}

int db_get(const char *path, const char *name, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    size_t length = strlen(name);
    int found = -1;
    // TODO: read notes that are longer than the buffer
    while (file != NULL && fgets(text, (int)size, file) != NULL) {
        if (strncmp(text, name, length) == 0 && text[length] == '\t') {
            memmove(text, text + length + 1, strlen(text + length + 1) + 1);
            found = 0;
            break;
        }
    }
    if (file != NULL)
        fclose(file);
    return found;
}
