// Part of the torq-mlir project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"use strict";
(() => {
  const table = document.getElementById("table");
  const layers = [...table.querySelectorAll("tbody.layer")];
  const find = document.getElementById("find");
  const byExecutor = document.getElementById("by-executor");
  const byStatus = document.getElementById("by-status");
  const sortSelect = document.getElementById("sort");
  const NUMBERS = new Set(["index", "difference", "sqnr", "time"]);
  const STATUSES = ["error", "difference", "skipped", "success"];
  const EXECUTORS = ["nss", "css", "host", "none"];

  // What has no figure comes last, in either direction.
  function compare(key, direction) {
    const rank = { nss: STATUSES, css: STATUSES, host: STATUSES, use: EXECUTORS }[key];
    return (a, b) => {
      const [x, y] = [a.dataset[key], b.dataset[key]];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined) || a.dataset.index - b.dataset.index;
      const order = rank ? rank.indexOf(x) - rank.indexOf(y)
        : NUMBERS.has(key) ? x - y : x.localeCompare(y, "en", { numeric: true });
      return direction * order || a.dataset.index - b.dataset.index;
    };
  }

  function sort(key, direction) {
    for (const button of table.querySelectorAll("thead [data-sort]")) {
      const heading = button.parentElement;
      if (button.dataset.sort === key) heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else heading.removeAttribute("aria-sort");
    }
    table.append(...layers.toSorted(compare(key, direction)));
  }

  function filter() {
    const text = find.value.trim().toLowerCase();
    let shown = 0;
    for (const layer of layers) {
      const { name, op, use, outcome } = layer.dataset;
      const fits = `${name}\n${op}`.toLowerCase().includes(text)
        && (!byExecutor.value || use === byExecutor.value) && (!byStatus.value || outcome === byStatus.value);
      layer.hidden = !fits;
      shown += fits;
    }
    document.getElementById("count").textContent = `${shown} of ${layers.length}`;
    document.getElementById("nothing").hidden = shown > 0;
  }

  // The details of a layer are made when they are first looked at: most of a large model never are.
  function show(layer, open) {
    let detail = layer.querySelector(".detail");
    if (open && !detail) {
      layer.append(layer.querySelector("template").content.cloneNode(true));
      detail = layer.querySelector(".detail");
    }
    if (detail) detail.hidden = !open;
    layer.querySelector(".toggle").setAttribute("aria-expanded", String(open));
  }

  // By its own link, or by its name as the model has it, which may be typed.
  function linkedLayer() {
    const link = location.hash.slice(1);
    let name = link;
    try {
      name = decodeURIComponent(link);
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
    }
    return layers.find((layer) => layer.id === link) ?? layers.find((layer) => `layer-${layer.dataset.name}` === name);
  }

  function followLink() {
    const layer = linkedLayer();
    if (!layer) return;
    if (layer.hidden) resetFilters();
    show(layer, true);
    layer.scrollIntoView();
    layer.querySelector(".toggle").focus({ preventScroll: true });
  }

  function resetFilters() {
    find.value = byExecutor.value = byStatus.value = "";
    filter();
  }

  table.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.sort) {
      sort(button.dataset.sort, button.parentElement.getAttribute("aria-sort") === "ascending" ? -1 : 1);
      return;
    }
    const layer = button.closest("tbody.layer");
    const open = button.getAttribute("aria-expanded") !== "true";
    show(layer, open);
    history.replaceState(null, "", open ? `#${layer.id}` : location.pathname + location.search);
  });
  for (const element of [find, byExecutor, byStatus]) element.addEventListener("input", filter);
  sortSelect.addEventListener("input", () => {
    const [key, direction] = sortSelect.value.split(":");
    sort(key, Number(direction ?? 1));
  });
  document.getElementById("filters").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("filters").addEventListener("reset", () => setTimeout(() => { filter(); sort("index", 1); }));
  // A click on the link of the layer that is in the address already changes nothing there.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#layer-"]');
    if (link && link.hash === location.hash) followLink();
  });
  addEventListener("hashchange", followLink);
  // Not before the browser has gone to the link itself, which takes the focus away.
  addEventListener("load", followLink);
})();
