// The ways to use a network: train it, run it, or see how good it is. All compile once for fixed
// shapes and then only run. A model owns nothing about data; it is called with batches.
#pragma once

#include "session/evaluation_model.hpp"
#include "session/inference_model.hpp"
#include "session/training_model.hpp"
