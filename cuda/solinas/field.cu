// The field with inline PTX: see field.h.
#include "solinas/field.h"

FIELD(field_functions)
