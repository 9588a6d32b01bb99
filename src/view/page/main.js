// Puts the page together: the address says what is seen, controls change it, events come when they
// are asked for.

import { defaults, fromHash, toHash } from "./address.js";
import { Display } from "./display.js";
import { savePdf, savePng } from "./downloads.js";
import { EventList } from "./event_list.js";
import { EventCache, openSource } from "./event_source.js";
import { Training } from "./training.js";

const byId = (id) => document.getElementById(id);
const SESSION_POLL_MS = 3000; // new checkpoints of runs are looked for this often
const ADDRESS_DELAY_MS = 200; // browsers refuse a new address for every frame

function showError(error) {
  byId("error").textContent = error.message;
  byId("error").hidden = false;
}

const THEMES = ["system", "light", "dark"];

function prepareTheme(redraw) {
  const apply = (theme) => {
    if (theme === "system") {
      delete document.documentElement.dataset.theme;
    } else {
      document.documentElement.dataset.theme = theme;
    }
    byId("theme").textContent = `Theme: ${theme}`;
  };
  let theme = THEMES.includes(sessionStorage.getItem("theme")) ? sessionStorage.getItem("theme") : "system";
  apply(theme);
  byId("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    sessionStorage.setItem("theme", theme);
    apply(theme);
    redraw();
  });
}

class Page {
  constructor(source, session) {
    this.source = source;
    this.session = session;
    this.state = fromHash(location.hash);
    this.cache = new EventCache(source);
    byId("title").textContent = session.runs.length > 0 ? session.runs.join(", ") : session.title;
    this.display = new Display(session, this.state, () => this.writeAddress());
    this.list = new EventList(source, this.state, {
      newest: session.runs.length > 0,
      labelled: session.labelled,
      choose: (entry) => this.show(entry),
      changed: () => this.writeAddress(),
    });
    this.training = session.runs.length > 0 ? new Training(source, session.runs) : null;
    prepareTheme(() => {
      this.display.restyle();
      this.training?.draw();
    });
    this.prepareTabs();
    this.showList();
    this.listen();
  }
  #wanted = -1;
  #timer = 0;

  async start() {
    this.training?.follow();
    if (this.session.events > 0) {
      await this.startEvents();
    }
  }

  // ---- Events and training, where there are both.

  prepareTabs() {
    document.querySelector(".tabs").hidden = !(this.training && this.session.events > 0);
    const tabs = ["events", "training"].map((name) => byId(`tab-${name}`));
    tabs.forEach((tab, i) => {
      tab.addEventListener("click", () => this.setTab(["events", "training"][i]));
      tab.addEventListener("keydown", (event) => {
        if (["ArrowLeft", "ArrowRight"].includes(event.key)) {
          tabs[1 - i].focus();
          tabs[1 - i].click();
        }
      });
    });
    this.showTab();
  }

  setTab(name) {
    this.state.tab = name;
    this.showTab();
    this.writeAddress();
  }

  /// Without the list, planes have its room.
  showList() {
    const hidden = this.state.list === "hidden";
    byId("events").classList.toggle("alone", hidden);
    byId("list-button").setAttribute("aria-pressed", String(!hidden));
  }

  toggleList() {
    this.state.list = this.state.list === "hidden" ? "shown" : "hidden";
    this.showList();
    this.writeAddress();
  }

  showTab() {
    const only = !this.training ? "events" : this.session.events === 0 ? "training" : null;
    for (const name of ["events", "training"]) {
      const chosen = name === (only ?? this.state.tab ?? "training");
      byId(name).hidden = !chosen;
      byId(`tab-${name}`).setAttribute("aria-selected", String(chosen));
      byId(`tab-${name}`).tabIndex = chosen ? 0 : -1;
    }
    byId("list-button").hidden = byId("events").hidden;
    this.display.resize();
    this.training?.draw();
  }

  /// A run has a new checkpoint, and its tags are there.
  async followNetworks() {
    for (;;) {
      await new Promise((done) => setTimeout(done, SESSION_POLL_MS));
      try {
        const session = await this.source.session();
        if (session.networks_version !== this.session.networks_version) {
          this.session = session;
          this.cache = new EventCache(this.source);
          this.display.setSession(session);
          await this.show(this.state.event);
          await this.list.fill();
        }
      } catch {
        // The server is away; who looks at the page sees that in the training tab.
      }
    }
  }

  async startEvents() {
    if (this.training) {
      this.followNetworks();
    }
    const filled = this.list.fill();
    if (this.source.exported) {
      await filled; // its events may begin with any number
      if (!this.list.entries.includes(this.state.event)) {
        this.state.event = this.list.entries[0];
      }
    }
    await this.show(Math.min(this.state.event, Math.max(this.session.events - 1, 0)));
    await filled;
  }

  async show(entry) {
    this.#wanted = entry;
    this.state.event = entry;
    this.list.select(entry);
    this.writeAddress();
    byId("save-html").href = `export.html?events=${entry}`;
    byId("save-html").download = `event${entry}.html`;
    byId("planes").setAttribute("aria-busy", "true");
    try {
      const event = await this.cache.event(entry);
      if (entry === this.#wanted) {
        byId("error").hidden = true;
        this.display.setEvent(event);
        this.#prefetch();
      }
    } catch (error) {
      showError(error);
    }
    if (entry === this.#wanted) {
      byId("planes").setAttribute("aria-busy", "false");
    }
  }

  #prefetch() {
    const next = this.list.neighbour(1);
    if (next !== null) {
      this.cache.event(next).catch(() => {}); // who goes there is told
    }
  }

  step(rows) {
    const entry = this.list.neighbour(rows);
    if (entry !== null && entry !== this.state.event) {
      this.show(entry);
    }
  }

  /// Without a new entry in the history for every move.
  writeAddress() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => history.replaceState(null, "", toHash(this.state)), ADDRESS_DELAY_MS);
  }

  readAddress() {
    this.state = { ...defaults, ...fromHash(location.hash) };
    this.showTab();
    this.showList();
    this.list.setState(this.state);
    this.display.setState(this.state);
    this.show(this.state.event);
  }

  listen() {
    window.addEventListener("hashchange", () => this.readAddress());
    byId("previous").addEventListener("click", () => this.step(-1));
    byId("next").addEventListener("click", () => this.step(1));
    byId("save-png").addEventListener("click", () => savePng(this.display));
    byId("save-pdf").addEventListener("click", () => savePdf(this.display));
    byId("save-html").hidden = this.source.exported;
    byId("copy-link").addEventListener("click", async () => {
      history.replaceState(null, "", toHash(this.state));
      await navigator.clipboard.writeText(location.href);
      byId("live").textContent = "The address of this view is copied.";
    });
    byId("list-button").addEventListener("click", () => this.toggleList());
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    window.addEventListener("keydown", (event) => this.key(event));
  }

  toFilter() {
    if (this.state.list === "hidden") {
      this.toggleList();
    }
    byId("filter").focus();
  }

  key(event) {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "range";
    if (typing || event.ctrlKey || event.metaKey || byId("help").open) {
      return;
    }
    const actions = {
      j: () => this.step(1),
      k: () => this.step(-1),
      n: () => this.step(1),
      p: () => this.step(-1),
      "+": () => byId("zoom-in").click(),
      "-": () => byId("zoom-out").click(),
      0: () => this.display.showAll(),
      f: () => this.display.showNeutrino(),
      "/": () => this.toFilter(),
      l: () => this.toggleList(),
      "?": () => byId("help").showModal(),
    };
    const action = actions[event.key] ?? (/^[1-9]$/.test(event.key) && (() => this.display.setLayerNumber(event.key - 1)));
    if (action) {
      event.preventDefault();
      action();
    }
  }
}

try {
  const source = openSource();
  const page = new Page(source, await source.session());
  window.cosmictagger = page; // for tests, and for the curious
  await page.start();
} catch (error) {
  showError(error);
}
