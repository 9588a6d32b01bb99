// Where events come from: the server that this page came from, or the page itself if it was
// exported with events inside.

/// The arrays of an event, looked at in place; see event_message.hpp for the bytes.
export function decodeEvent(buffer) {
  const headerBytes = new DataView(buffer).getUint32(0, true);
  const event = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headerBytes)));
  let at = 4 + headerBytes;
  const take = (Type, count) => {
    const array = new Type(buffer, at, count);
    at += Math.ceil(array.byteLength / 4) * 4;
    return array;
  };
  for (const plane of event.planes) {
    const count = plane.pixels;
    plane.ids = take(Uint32Array, count);
    plane.charge = take(Float32Array, count);
    plane.label = event.labelled ? take(Uint8Array, count) : null;
    plane.networks = [];
    for (let network = 0; network < event.networks; ++network) {
      plane.networks.push({
        tag: take(Uint8Array, count),
        cosmic: take(Float32Array, count),
        neutrino: take(Float32Array, count),
      });
    }
  }
  return event;
}

class ServerSource {
  exported = false;

  async #get(path) {
    const answer = await fetch(path);
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
    return answer;
  }
  async session() {
    return (await this.#get("api/session")).json();
  }
  async index(from) {
    return (await this.#get(`api/events?from=${from}`)).json();
  }
  async event(entry) {
    return decodeEvent(await (await this.#get(`api/event?entry=${entry}`)).arrayBuffer());
  }
  /// What a run has added since it was asked last.
  async run(number, { generation, train, test }) {
    const seen = generation === null ? "" : `&generation=${generation}&train=${train}&test=${test}`;
    return (await this.#get(`api/run?run=${number}${seen}`)).json();
  }
}

class ExportedSource {
  exported = true;
  #content;

  constructor(element) {
    this.#content = JSON.parse(element.textContent);
  }
  async session() {
    return this.#content.session;
  }
  async index(from) {
    const index = this.#content.index;
    return { ...index, rows: index.rows.slice(from) };
  }
  async event(entry) {
    const text = this.#content.events[entry];
    if (text === undefined) {
      throw new Error(`event ${entry} is not among those that were exported`);
    }
    return decodeEvent(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
  }
}

export function openSource() {
  const element = document.getElementById("exported");
  return element ? new ExportedSource(element) : new ServerSource();
}

/// The newest events stay at hand, so that going back and forth is immediate.
export class EventCache {
  #source;
  #events = new Map();
  static #most = 8;

  constructor(source) {
    this.#source = source;
  }
  event(entry) {
    let event = this.#events.get(entry);
    if (!event) {
      event = this.#source.event(entry);
      event.catch(() => this.#events.delete(entry));
    }
    this.#events.delete(entry); // and in again, as the newest
    this.#events.set(entry, event);
    if (this.#events.size > EventCache.#most) {
      this.#events.delete(this.#events.keys().next().value);
    }
    return event;
  }
}
