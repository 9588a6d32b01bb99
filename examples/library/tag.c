/* Tags one event with the library for C: a straight track on each plane.
 *
 *   tag_c WEIGHTS [ROWS COLUMNS]         WEIGHTS may be fast or best, the networks in the box
 */
#include <cosmictagger/cosmictagger.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 100 };

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) {
    fprintf(stderr, "usage: %s WEIGHTS [ROWS COLUMNS]\n", argv[0]);
    return 2;
  }
  if (cosmictagger_abi() != COSMICTAGGER_ABI) {
    fprintf(stderr, "the library has interface %d, the header %d\n", cosmictagger_abi(),
            COSMICTAGGER_ABI);
    return 2;
  }

  cosmictagger_options options;
  cosmictagger_default_options(&options, sizeof options);
  options.weights = argv[1];
  if (argc == 4) {
    options.rows = (uint32_t)strtoul(argv[2], NULL, 10);
    options.columns = (uint32_t)strtoul(argv[3], NULL, 10);
  }

  char error[1024];
  cosmictagger_tagger* tagger = NULL;
  cosmictagger_status status = cosmictagger_load(&options, &tagger, error, sizeof error);
  if (status != COSMICTAGGER_OK) {
    fprintf(stderr, "%s\n", error);
    return (int)status;
  }
  printf("CosmicTagger %s\n%s\n", cosmictagger_version(), cosmictagger_description(tagger));
  printf("%d thread(s), %lld bytes\n", cosmictagger_threads(tagger),
         (long long)cosmictagger_memory_bytes(tagger));

  uint32_t rows[LENGTH];
  uint32_t columns[LENGTH];
  float charges[LENGTH];
  for (uint32_t i = 0; i < LENGTH; ++i) {
    rows[i] = i * options.rows / LENGTH;
    columns[i] = i * options.columns / LENGTH;
    charges[i] = 40;
  }
  uint8_t tag[COSMICTAGGER_PLANES][LENGTH];
  float neutrino[COSMICTAGGER_PLANES][LENGTH];
  cosmictagger_pixels pixels[COSMICTAGGER_PLANES];
  cosmictagger_tags tags[COSMICTAGGER_PLANES];
  for (int plane = 0; plane < COSMICTAGGER_PLANES; ++plane) {
    pixels[plane] = (cosmictagger_pixels){LENGTH, rows, columns, charges};
    tags[plane] = (cosmictagger_tags){.tag = tag[plane], .neutrino = neutrino[plane]};
  }

  status = cosmictagger_tag_events(tagger, pixels, tags, 1, error, sizeof error);
  if (status != COSMICTAGGER_OK) {
    fprintf(stderr, "%s\n", error);
  } else {
    for (int plane = 0; plane < COSMICTAGGER_PLANES; ++plane) {
      int counts[3] = {0, 0, 0};
      double sum = 0;
      for (int i = 0; i < LENGTH; ++i) {
        ++counts[tag[plane][i]];
        sum += neutrino[plane][i];
      }
      printf("plane %d: %d background, %d cosmic, %d neutrino; probability of neutrino %.3f\n", plane,
             counts[COSMICTAGGER_BACKGROUND], counts[COSMICTAGGER_COSMIC],
             counts[COSMICTAGGER_NEUTRINO], sum / LENGTH);
    }
    /* A track alone is no event: the networks in the box say so. */
    char oddities[1024];
    status = cosmictagger_oddities(tagger, oddities, sizeof oddities, error, sizeof error);
    if (status == COSMICTAGGER_OK && oddities[0] != 0) {
      printf("unlike the events of the training: %s\n", oddities);
    }
  }
  cosmictagger_free(tagger);
  return (int)status;
}
