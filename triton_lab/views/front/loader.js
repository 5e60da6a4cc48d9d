/**
 * A plain script at the end of a picture in an HTML output: lets `output.js` draw the picture. One output of a notebook
 * carries that code for all others. The pictures of an output that comes before it wait in a list.
 */

{
  const own = document.currentScript?.closest(".triton-lab-picture");
  /** @type {Iterable<HTMLElement>} where scripts are evaluated without an element: every picture of the page */
  const places = own instanceof HTMLElement ? [own] : document.querySelectorAll(".triton-lab-picture:not([data-seen])");
  const lists = /** @type {Record<string, HTMLElement[] & {loaded?: boolean}>} */ (/** @type {unknown} */ (globalThis));
  for (const place of places) {
    const name = `tritonLab${place.dataset.code}`;
    const waiting = (lists[name] ??= []);
    place.dataset.seen = "";
    waiting.push(place);
    const carrier = place.querySelector("script[type='application/gzip+json']");
    if (!carrier || waiting.loaded) continue;
    waiting.loaded = true;
    const bytes = Uint8Array.from(atob(carrier.textContent ?? ""), (letter) => letter.charCodeAt(0));
    const unzipped = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
    unzipped.json().then((/** @type {{code: string, style: string, texts: unknown}} */ carried) => {
      document.head.append(Object.assign(document.createElement("style"), { textContent: carried.style }));
      const script = Object.assign(document.createElement("script"), { textContent: carried.code });
      Object.assign(script.dataset, { queue: name, texts: JSON.stringify(carried.texts) });
      document.head.append(script);
    });
  }
}
