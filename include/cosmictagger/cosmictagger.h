/* CosmicTagger for C, and for whatever can call C: frameworks of experiments, other languages.
 *
 *   cosmictagger_options options;
 *   char error[512];
 *   cosmictagger_tagger* tagger = NULL;
 *   cosmictagger_default_options(&options, sizeof options);
 *   options.weights = "weights.safetensors";
 *   if (cosmictagger_load(&options, &tagger, error, sizeof error) != COSMICTAGGER_OK) ...
 *
 * Rules. A function that can fail returns a status and writes a text, which always ends with a 0,
 * into the buffer of its caller; `error` may be NULL. No exception leaves a function, nothing is
 * printed, and nothing is kept between calls but in a tagger. Threads may share a tagger, whose calls
 * then follow one another; cosmictagger_free comes after the last of them. The functions and
 * structures below stay as they are within one COSMICTAGGER_ABI; structures grow at their end, which
 * their `size` tells. */
#ifndef COSMICTAGGER_COSMICTAGGER_H
#define COSMICTAGGER_COSMICTAGGER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define COSMICTAGGER_API __attribute__((visibility("default")))
#else
#define COSMICTAGGER_API
#endif

#define COSMICTAGGER_ABI 1
#define COSMICTAGGER_PLANES 3

/* Whose mistake it was; the exit statuses of the program. */
typedef enum cosmictagger_status {
  COSMICTAGGER_OK = 0,
  COSMICTAGGER_USER_ERROR = 2,      /* an option or a setting */
  COSMICTAGGER_DATA_ERROR = 3,      /* a file or an event */
  COSMICTAGGER_SHAPE_ERROR = 4,     /* the network does not fit the image */
  COSMICTAGGER_TARGET_ERROR = 5,    /* the machine that computes */
  COSMICTAGGER_INTERNAL_ERROR = 70, /* a mistake of the library */
  COSMICTAGGER_MEMORY_ERROR = 71    /* there was not enough */
} cosmictagger_status;

typedef enum cosmictagger_tag {
  COSMICTAGGER_BACKGROUND = 0,
  COSMICTAGGER_COSMIC = 1,
  COSMICTAGGER_NEUTRINO = 2
} cosmictagger_tag;

typedef struct cosmictagger_tagger cosmictagger_tagger;

/* TaggerOptions of <cosmictagger/tagger.hpp> says what each is for. */
typedef struct cosmictagger_options {
  size_t size;           /* of the structure, set by cosmictagger_default_options */
  const char* weights;   /* NULL: the network in the box */
  int threads;           /* 1: the caller's alone */
  int events_at_a_time;  /* 1 */
  uint32_t rows;         /* 1280 */
  uint32_t columns;      /* 2048 */
  const char* const* settings; /* texts such as "run.compute_mode=GPU", ended by NULL; or NULL */
} cosmictagger_options;

/* The pixels of one plane that have charge, in any order, each place once. */
typedef struct cosmictagger_pixels {
  size_t count;
  const uint32_t* rows;
  const uint32_t* columns;
  const float* charges;
} cosmictagger_pixels;

/* Room for what is said about them, in their order: `count` elements each, or NULL for what nobody
 * wants. */
typedef struct cosmictagger_tags {
  uint8_t* tag;
  float* cosmic; /* probabilities */
  float* neutrino;
} cosmictagger_tags;

/* COSMICTAGGER_ABI of the library, to be compared with the header's. */
COSMICTAGGER_API int cosmictagger_abi(void);
/* "0.1.0 (779a3a9c7884)" */
COSMICTAGGER_API const char* cosmictagger_version(void);

/* Fills `options`, of which the caller knows `size` bytes. */
COSMICTAGGER_API void cosmictagger_default_options(cosmictagger_options* options, size_t size);

/* Loads weights and compiles the network. On success *tagger is to be freed; otherwise it is NULL. */
COSMICTAGGER_API cosmictagger_status cosmictagger_load(const cosmictagger_options* options,
                                                       cosmictagger_tagger** tagger, char* error,
                                                       size_t error_size);
/* NULL is fine. */
COSMICTAGGER_API void cosmictagger_free(cosmictagger_tagger* tagger);

/* Threads that compute, and bytes that the tagger holds from now on. */
COSMICTAGGER_API int cosmictagger_threads(const cosmictagger_tagger* tagger);
COSMICTAGGER_API int64_t cosmictagger_memory_bytes(const cosmictagger_tagger* tagger);
/* A line about weights, step, size and threads, then one for each thing that a user should know.
 * Belongs to the tagger. */
COSMICTAGGER_API const char* cosmictagger_description(const cosmictagger_tagger* tagger);

/* Tags events: `pixels` and `tags` have COSMICTAGGER_PLANES elements for each, plane after plane. */
COSMICTAGGER_API cosmictagger_status cosmictagger_tag_events(cosmictagger_tagger* tagger,
                                                             const cosmictagger_pixels* pixels,
                                                             const cosmictagger_tags* tags,
                                                             size_t events, char* error,
                                                             size_t error_size);
/* Tags dense images: all arrays are [events, 3, rows, columns]; 0 is no charge. Of `tags`, `cosmic`
 * and `neutrino`, those that are NULL are left out. */
COSMICTAGGER_API cosmictagger_status cosmictagger_tag_images(cosmictagger_tagger* tagger,
                                                             const float* charges, size_t events,
                                                             uint8_t* tags, float* cosmic,
                                                             float* neutrino, char* error,
                                                             size_t error_size);

/* In what the events tagged so far (the latest thousand) do not look like those that the network was
 * trained on, a line each with the figures of both: charge in other units, another detector. Their
 * tags may be wrong then. Empty where all is well; as much of it as fits into `text`. */
COSMICTAGGER_API cosmictagger_status cosmictagger_oddities(cosmictagger_tagger* tagger, char* text,
                                                           size_t text_size, char* error,
                                                           size_t error_size);

#ifdef __cplusplus
}
#endif

#endif
