// Prints docs/models.md: predictions against published and measured figures.
#include <iostream>

#include "validation/models_page.hpp"

int main() {
  std::cout << cosmic::validation::models_page();
}
