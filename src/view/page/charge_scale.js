// From charges to places on the colour bar, and where ticks go. The ends come with the event; the
// formulas are those of src/picture.

export class ChargeScale {
  constructor([low, high]) {
    this.low = low;
    this.high = high;
    this.#range = Math.log(high / low);
  }
  #range;

  /// 0 at the low end and below, 1 at the high end and above.
  share(charge) {
    return charge <= this.low ? 0 : Math.min(Math.log(charge / this.low) / this.#range, 1);
  }
  ticks() {
    const ticks = [];
    for (let power = Math.floor(Math.log10(this.low)); power <= Math.log10(this.high); ++power) {
      for (const factor of [1, 2, 5]) {
        const tick = factor * 10 ** power;
        if (tick >= this.low && tick <= this.high) {
          ticks.push(tick);
        }
      }
    }
    return ticks;
  }
}

/// Round values between the ends, about `count` of them.
export function linearTicks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => rough <= factor * power * (1 + 1e-9)) ?? 10);
  const ticks = [];
  for (let number = Math.ceil(low / step); number * step <= high; ++number) {
    ticks.push(number * step);
  }
  return ticks;
}
