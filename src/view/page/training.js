// Runs that are being trained, or were: their curves on top of each other, renewed while they grow.

import { LineChart, smoothed } from "./line_chart.js";

const POLL_MS = 2000;
const LEAST_WATCHED_S = 10; // before anything is said about the time that is left
const byId = (id) => document.getElementById(id);

// Okabe and Ito's colours, which everybody tells apart, those that are seen on white and on black.
const RUN_COLORS = ["#0077bb", "#d55e00", "#009e73", "#aa4499", "#a68a00", "#56a0d3"];

const CHARTS = [
  { title: "Loss", column: "loss", validated: true, options: { logarithmic: true } },
  { title: "Mean IoU", column: "Average/mIoU", validated: true, options: { zero: true } },
  { title: "Neutrino IoU", column: "Average/Neutrino_IoU", validated: true, options: { zero: true } },
  { title: "Cosmic IoU", column: "Average/Cosmic_IoU", validated: true, options: { zero: true } },
  { title: "Accuracy without background", column: "Average/Non_Bkg_Accuracy", validated: true, options: { zero: true } },
  { title: "Learning rate", learningRate: true, options: { logarithmic: true } },
  { title: "Events per second", column: "images_per_second", options: { zero: true } },
  { title: "Seconds per step: computing", column: "step_time", options: { zero: true } },
  { title: "Seconds per step: waiting for data", column: "io_fetch_time", options: { zero: true } },
];

/// The rows of one run that are known so far.
class Run {
  constructor(source, number, name) {
    this.#source = source;
    this.#number = number;
    this.name = name;
    this.color = RUN_COLORS[number % RUN_COLORS.length];
    this.shown = true;
  }
  #source;
  #number;
  #generation = null;
  tables = { train: { columns: [], rows: [] }, test: { columns: [], rows: [] } };
  #watched = null; // when, and how many steps there were
  learningRate = [];
  job = null;
  secondsLeft = null;

  /// Asks for what was added until there is no more. Returns whether the curves have changed.
  async update() {
    let more = true;
    let changed = false;
    while (more) {
      const { train, test } = this.tables;
      const answer = await this.#source.run(this.#number, {
        generation: this.#generation,
        train: train.rows.length,
        test: test.rows.length,
      });
      changed ||= this.#generation !== answer.generation || this.learningRate.length !== answer.learning_rate.length;
      this.#generation = answer.generation;
      more = false;
      for (const name of ["train", "test"]) {
        const table = this.tables[name];
        const added = answer[name];
        table.columns = added.columns;
        table.rows.length = Math.min(table.rows.length, added.from); // a run that was taken up again
        table.rows.push(...added.rows);
        changed ||= added.rows.length > 0;
        more ||= table.rows.length < added.total;
      }
      this.learningRate = answer.learning_rate;
      this.job = answer.job;
    }
    this.secondsLeft = this.#timeLeft();
    return changed;
  }

  /// Timings of a modelled machine have a longer name.
  column(table, name) {
    const { columns, rows } = this.tables[table];
    const at = columns.findIndex((column) => column === name || column.startsWith(`${name} (`));
    return at < 0 ? null : { steps: rows.map((row) => row[0]), values: rows.map((row) => row[at]) };
  }
  /// How long the steps that are left take at the pace that was seen since the page began to watch:
  /// by the clock, whatever the time of a step means in the table. Nothing where nobody trains.
  #timeLeft() {
    const { job } = this;
    if (job?.state !== "running" || !(job.total > job.done)) {
      this.#watched = null;
      return null;
    }
    const now = { at: performance.now(), done: job.done };
    if (this.#watched === null || now.done < this.#watched.done) {
      this.#watched = now; // begun, or begun again
    }
    const seen = { seconds: (now.at - this.#watched.at) / 1000, steps: now.done - this.#watched.done };
    return seen.seconds < LEAST_WATCHED_S || seen.steps === 0 ? null : ((job.total - job.done) * seen.seconds) / seen.steps;
  }
  latest(table, name) {
    return this.column(table, name)?.values.findLast((value) => value !== null) ?? null;
  }
}

/// Of hours and minutes the two that count.
function durationText(seconds) {
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) {
    return "under 1 min";
  }
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24];
  return days > 0 ? `${days} d ${hours} h` : hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

const bytesText = (bytes) => (bytes > 0 ? `${(bytes / 1e9).toFixed(2)} GB` : "–");
const numberText = (value, digits = 3) => (value === null || value === undefined ? "–" : String(+value.toPrecision(digits)));

export class Training {
  constructor(source, names) {
    this.#runs = names.map((name, number) => new Run(source, number, name));
    const page = byId("training");
    page.innerHTML = `
      <div class="training-head">
        <div class="scroll" tabindex="0" role="region" aria-label="Runs"><table class="runs">
          <caption>Runs</caption>
          <thead><tr><th>Run</th><th>State</th><th>Step</th><th>Time left</th><th>Loss</th><th>Mean IoU</th><th>Validation loss</th><th>Validation mIoU</th><th>Events/s</th><th>Memory</th></tr></thead>
          <tbody></tbody>
        </table></div>
        <div class="field"><label for="smoothing">Smoothing <output id="smoothing-text" for="smoothing">0.80</output></label>
          <input id="smoothing" type="range" min="0" max="0.99" step="0.01" value="0.8"></div>
      </div>
      <p class="note">Lines are training, smoothed over the faint line; dots are validation.</p>
      <div class="charts"></div>`;
    this.#charts = CHARTS.map((chart) => ({ ...chart, chart: new LineChart(chart.title, chart.options) }));
    page.querySelector(".charts").append(...this.#charts.map(({ chart }) => chart.element));
    byId("smoothing").addEventListener("input", ({ target }) => {
      byId("smoothing-text").value = target.valueAsNumber.toFixed(2);
      this.draw();
    });
    this.#fillTable();
  }
  #runs;
  #charts;

  /// Goes on for as long as the page is open. A server that is away for a while is asked again.
  async follow() {
    for (;;) {
      try {
        const changed = await Promise.all(this.#runs.map((run) => run.update()));
        byId("training").classList.remove("stale");
        this.#fillTable();
        if (changed.includes(true)) {
          this.draw();
        }
      } catch {
        byId("training").classList.add("stale");
      }
      await new Promise((done) => setTimeout(done, POLL_MS));
    }
  }

  draw() {
    const amount = byId("smoothing").valueAsNumber;
    for (const { chart, column, validated, learningRate } of this.#charts) {
      const series = [];
      for (const run of this.#runs.filter((one) => one.shown)) {
        const { name, color } = run;
        if (learningRate) {
          series.push({ name, color, steps: run.learningRate.map(([step]) => step), values: run.learningRate.map(([, rate]) => rate) });
          continue;
        }
        const training = run.column("train", column);
        if (training) {
          series.push({ ...training, name, color, faint: true });
          series.push({ ...training, values: smoothed(training.values, amount), name, color });
        }
        const validation = validated && run.column("test", column);
        if (validation) {
          series.push({ ...validation, name: `${name} validation`, color, dots: true });
        }
      }
      chart.setSeries(series);
    }
  }

  #fillTable() {
    const body = byId("training").querySelector("tbody");
    const focused = [...body.querySelectorAll("input")].indexOf(document.activeElement);
    body.replaceChildren(
      ...this.#runs.map((run) => {
        const row = document.createElement("tr");
        const head = document.createElement("th");
        head.scope = "row";
        head.innerHTML = `<label><input type="checkbox"> <span class="swatch"></span> <span></span></label>`;
        head.querySelector(".swatch").style.background = run.color;
        head.querySelector("label").lastChild.textContent = run.name;
        const box = head.querySelector("input");
        box.checked = run.shown;
        box.addEventListener("change", () => {
          run.shown = box.checked;
          this.draw();
        });
        const { job } = run;
        const step = run.column("train", "loss")?.steps.at(-1);
        const total = job?.total > 0 ? ` of ${job.total.toLocaleString("en-GB")}` : "";
        const cells = [
          job?.state ?? "not running here",
          step === undefined ? "–" : step.toLocaleString("en-GB") + total,
          run.secondsLeft === null ? "–" : durationText(run.secondsLeft),
          numberText(run.latest("train", "loss")),
          numberText(run.latest("train", "Average/mIoU")),
          numberText(run.latest("test", "loss")),
          numberText(run.latest("test", "Average/mIoU")),
          numberText(job?.events_per_second ?? run.latest("train", "images_per_second")),
          bytesText(job?.resident_bytes ?? 0),
        ].map((text) => {
          const cell = document.createElement("td");
          cell.textContent = text;
          return cell;
        });
        row.append(head, ...cells);
        return row;
      }),
    );
    body.querySelectorAll("input")[focused]?.focus();
  }
}
