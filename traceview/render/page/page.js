"use strict";
(() => {
  // ---- Links: what a link points at may lie in something folded.
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    target.hidden = false;
    target.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => document.querySelectorAll("details.section").forEach((d) => { d.open = true; }));

  // ---- Tables: sort by a column, filter by a word.
  const FEW = 8;

  function valueOf(cell) {
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
  }

  function compare(column, direction) {
    return (first, second) => {
      const [a, b] = [first.cells[column], second.cells[column]];
      const [x, y] = [valueOf(a), valueOf(b)];
      if (x !== null && y !== null) return direction * (x - y);
      if (x !== null || y !== null) return x === null ? 1 : -1; // what is missing comes last
      return direction * a.textContent.localeCompare(b.textContent);
    };
  }

  function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const number = heading.classList.contains("number");
        const was = heading.getAttribute("aria-sort");
        const down = was ? was === "ascending" : number; // figures: the largest first
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        body.append(...[...body.rows].sort(compare(column, down ? -1 : 1)));
      });
    });
  }

  function makeFilterable(table) {
    const box = document.createElement("input");
    box.type = "search";
    box.className = "filter";
    box.placeholder = "filter rows";
    box.setAttribute("aria-label", `filter ${table.id}`);
    const rows = [...table.tBodies[0].rows].map((row) => [row, row.textContent.toLowerCase()]);
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/);
      for (const [row, text] of rows) row.hidden = !words.every((word) => text.includes(word));
    });
    table.parentElement.before(box);
  }

  for (const table of document.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < 2) continue;
    makeSortable(table);
    if (table.tBodies[0].rows.length > FEW) makeFilterable(table);
  }

  // ---- Timeline.
  const LANE = 16, HEAD = 18, AXIS = 22, MERGE = 2, LEAST = 10; // px; the least view is in ns
  const PALETTE = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5"];

  function duration(ns) {
    for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) {
      if (Math.abs(ns) >= size) return `${(ns / size).toFixed(2)} ${unit}`;
    }
    return `${Math.round(ns)} ns`;
  }

  function firstAfter(ends, time) { // the first position whose end is behind `time`
    let low = 0, high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle] > time) high = middle; else low = middle + 1;
    }
    return low;
  }

  function lanesOf(track) { // on a lane nothing overlaps, so that one search finds a time
    const lanes = Array.from({ length: track.lanes }, () => ({ starts: [], ends: [], names: [], details: [] }));
    let start = 0;
    for (let i = 0; i < track.events.length; i += 5) {
      start += track.events[i];
      const lane = lanes[track.events[i + 2]];
      lane.starts.push(start);
      lane.ends.push(start + track.events[i + 1]);
      lane.names.push(track.events[i + 3]);
      lane.details.push(track.events[i + 4]);
    }
    return lanes;
  }

  function rowsOf(data) { // one row a lane, and headings between; each with its place from the top
    const rows = [];
    let top = AXIS;
    const add = (row, height) => { rows.push({ ...row, top, height }); top += height; };
    for (const excerpt of data.excerpts) {
      if (data.excerpts.length > 1) add({ heading: excerpt.label, excerpt, strong: true }, HEAD + 4);
      for (const track of excerpt.tracks) {
        add({ heading: track.name, excerpt }, HEAD);
        for (const lane of lanesOf(track)) add({ lane, excerpt, kind: track.kind }, LANE);
      }
    }
    return [rows, top + 4];
  }

  class Timeline {
    constructor(figure) {
      this.canvas = figure.querySelector("canvas");
      this.output = figure.querySelector(".hover");
      const data = JSON.parse(figure.querySelector("script").textContent);
      this.texts = data.texts;
      [this.rows, this.height] = rowsOf(data);
      this.whole = Math.max(...data.excerpts.map((excerpt) => excerpt.length), LEAST);
      this.show(0, this.whole);
      this.listen();
      figure.insertBefore(this.tools(), this.output);
      new ResizeObserver(() => this.ask()).observe(this.canvas);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.ask());
    }

    show(start, end) {
      const length = Math.min(Math.max(end - start, LEAST), this.whole);
      this.start = Math.min(Math.max(start, 0), this.whole - length);
      this.end = this.start + length;
      this.canvas.dataset.start = Math.round(this.start);
      this.canvas.dataset.end = Math.round(this.end);
      this.ask();
    }

    zoom(factor, at = (this.start + this.end) / 2) {
      const length = Math.min(Math.max((this.end - this.start) * factor, LEAST), this.whole);
      const share = (at - this.start) / (this.end - this.start);
      this.show(at - share * length, at - share * length + length);
    }

    move(share) {
      const by = share * (this.end - this.start);
      this.show(this.start + by, this.end + by);
    }

    ask() { // one drawing a frame, however many events ask for it
      if (this.asked) return;
      this.asked = true;
      requestAnimationFrame(() => { this.asked = false; this.draw(); });
    }

    timeAt(x) { return this.start + (x / this.canvas.clientWidth) * (this.end - this.start); }

    // -- drawing
    draw() {
      const width = this.canvas.clientWidth, ratio = devicePixelRatio || 1;
      if (!width) return;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(this.height * ratio);
      this.canvas.style.height = `${this.height}px`;
      const pen = this.canvas.getContext("2d");
      const style = getComputedStyle(document.documentElement);
      const color = (name) => style.getPropertyValue(name).trim();
      pen.scale(ratio, ratio);
      pen.fillStyle = color("--paper");
      pen.fillRect(0, 0, width, this.height);
      pen.font = "11px system-ui, sans-serif";
      pen.textBaseline = "middle";
      this.drawAxis(pen, width, color);
      const colors = {
        fills: PALETTE.map(color), host: color("--host"), annotation: color("--note"),
        idle: color("--idle"), ink: color("--ink"), soft: color("--soft"), rule: color("--rule"),
        block: color("--onmark"),
      };
      for (const row of this.rows) {
        if (row.heading !== undefined) this.drawHeading(pen, row, width, colors);
        else this.drawLane(pen, row, width, colors);
      }
    }

    drawAxis(pen, width, color) {
      const rough = (this.end - this.start) / Math.max(width / 110, 1);
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
      pen.textAlign = "left";
      for (let time = Math.ceil(this.start / step) * step; time <= this.end; time += step) {
        const x = ((time - this.start) / (this.end - this.start)) * width;
        pen.fillStyle = color("--rule");
        pen.fillRect(Math.round(x), 0, 1, this.height);
        pen.fillStyle = color("--soft");
        pen.fillText(duration(time), x + 4, AXIS / 2);
      }
    }

    drawHeading(pen, row, width, colors) {
      pen.fillStyle = row.strong ? colors.ink : colors.soft;
      pen.font = `${row.strong ? "bold 12px" : "11px"} system-ui, sans-serif`;
      pen.textAlign = "left";
      pen.fillText(row.heading, 4, row.top + row.height / 2 + 1);
      pen.font = "11px system-ui, sans-serif";
      if (row.strong) {
        pen.fillStyle = colors.rule;
        pen.fillRect(0, row.top, width, 1);
      }
    }

    *blocks(lane, width) { // [from px, to px, first, behind last]: events too narrow to tell apart are one
      const scale = width / (this.end - this.start);
      let i = firstAfter(lane.ends, this.start - 1);
      while (i < lane.starts.length && lane.starts[i] < this.end) {
        const from = (lane.starts[i] - this.start) * scale;
        let to = (lane.ends[i] - this.start) * scale;
        let behind = i + 1;
        if (to - from < MERGE) {
          behind = Math.max(firstAfter(lane.ends, this.start + (from + MERGE) / scale), i + 1);
          to = Math.max((lane.ends[behind - 1] - this.start) * scale, from + 1);
        }
        yield [Math.max(from, 0), Math.min(to, width), i, behind];
        i = behind;
      }
    }

    drawLane(pen, row, width, colors) {
      const { lane, kind, top } = row;
      for (const [from, to, first, behind] of this.blocks(lane, width)) {
        const room = to - from;
        pen.fillStyle = kind === "device" ? colors.fills[lane.names[first] % PALETTE.length] : colors[kind];
        pen.globalAlpha = behind - first > 1 ? 0.65 : 1;
        pen.fillRect(from, top + 1, Math.max(room - (room > 4 ? 1 : 0), 1), LANE - 2);
        pen.globalAlpha = 1;
        if (room < 34) continue;
        const letters = Math.floor((room - 6) / 6);
        const name = this.texts[lane.names[first]];
        pen.fillStyle = colors.block;
        pen.fillText(name.length > letters ? name.slice(0, letters) : name, from + 3, top + LANE / 2 + 1);
      }
    }

    // -- what is under the pointer
    at(x, y) {
      const row = this.rows.find((one) => one.lane && y >= one.top && y < one.top + one.height);
      if (!row) return null;
      for (const [from, to, first, behind] of this.blocks(row.lane, this.canvas.clientWidth)) {
        if (x >= from - 1 && x <= to + 1) return { ...row, first, behind };
      }
      return null;
    }

    describe({ lane, excerpt, first, behind }) {
      const length = lane.ends[behind - 1] - lane.starts[first];
      const at = `at ${duration(lane.starts[first])} of ${excerpt.label}`;
      if (behind - first > 1) return `${behind - first} events within ${duration(length)}\n${at}\nzoom in to tell them apart`;
      const detail = this.texts[lane.details[first]];
      return `${this.texts[lane.names[first]]}\n${duration(length)}, ${at}${detail ? `\n${detail}` : ""}`;
    }

    hover(x, y) {
      const found = this.at(x, y);
      this.output.textContent = found ? this.describe(found) : "";
    }

    follow(x, y) { // to the row of a table that is about the same gap or the same name
      const found = this.at(x, y);
      if (!found || found.behind - found.first > 1) return;
      const start = String(found.excerpt.origin + found.lane.starts[found.first]);
      const name = this.texts[found.lane.names[found.first]];
      const fits = (row) => {
        const cell = row.cells[0];
        const whole = cell.querySelector("details") ? cell.querySelector("details").lastChild : cell;
        return found.kind === "idle" ? row.closest("table").id === "gaps" && cell.dataset.v === start
          : whole.textContent === name;
      };
      const row = [...document.querySelectorAll("tbody tr[id]")].find(fits);
      if (row) location.hash = row.id;
    }

    // -- events
    listen() {
      const canvas = this.canvas;
      canvas.addEventListener("wheel", (event) => {
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          this.move((event.deltaX || event.deltaY) / canvas.clientWidth);
        } else {
          this.zoom(Math.exp(Math.min(Math.max(event.deltaY, -200), 200) * 0.003), this.timeAt(event.offsetX));
        }
      }, { passive: false });
      canvas.addEventListener("keydown", (event) => this.key(event));
      canvas.addEventListener("pointerdown", (event) => { this.grip = { x: event.offsetX, moved: false }; });
      addEventListener("pointerup", () => { this.grip = null; });
      canvas.addEventListener("pointermove", (event) => {
        if (!this.grip) { this.hover(event.offsetX, event.offsetY); return; }
        const by = this.grip.x - event.offsetX;
        this.grip.moved ||= Math.abs(by) > 3;
        if (this.grip.moved) { this.move(by / canvas.clientWidth); this.grip.x = event.offsetX; this.dragged = true; }
      });
      canvas.addEventListener("click", (event) => {
        this.hover(event.offsetX, event.offsetY);
        if (!this.dragged) this.follow(event.offsetX, event.offsetY);
        this.dragged = false;
      });
      canvas.addEventListener("pointerleave", () => { this.output.textContent = ""; });
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const actions = {
        "+": () => this.zoom(0.6), "=": () => this.zoom(0.6), w: () => this.zoom(0.6),
        "-": () => this.zoom(1 / 0.6), s: () => this.zoom(1 / 0.6),
        ArrowLeft: () => this.move(-0.2), a: () => this.move(-0.2),
        ArrowRight: () => this.move(0.2), d: () => this.move(0.2),
        0: () => this.show(0, this.whole), Home: () => this.show(0, this.whole),
      };
      if (!actions[event.key]) return;
      event.preventDefault();
      actions[event.key]();
    }

    tools() {
      const box = document.createElement("div");
      box.className = "tools";
      const add = (text, label, action) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = text;
        button.setAttribute("aria-label", label);
        button.addEventListener("click", action);
        box.append(button);
      };
      add("+", "zoom in", () => this.zoom(0.6));
      add("\u2212", "zoom out", () => this.zoom(1 / 0.6));
      add("\u2190", "earlier", () => this.move(-0.3));
      add("\u2192", "later", () => this.move(0.3));
      add("all", "show the whole step", () => this.show(0, this.whole));
      const hint = document.createElement("span");
      hint.className = "hint";
      hint.textContent = "Wheel or + and - zoom, drag or arrows move, a click goes to the table.";
      box.append(hint);
      return box;
    }
  }

  document.querySelectorAll("figure.timeline").forEach((figure) => new Timeline(figure));
  reveal();
})();
