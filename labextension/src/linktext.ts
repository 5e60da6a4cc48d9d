/**
 * Where the lines of a kernel, as they were when it ran, stand in a text that may have been edited since.
 */

/** Lines of a file or a cell, from the `first` on; a function's may stand without the indentation of its place. */
export interface ISource {
  readonly first: number;
  readonly lines: readonly string[];
}

/** For each line of the source its number in the text, counted from 1, and whether all are where and as they were. */
export interface IPlaced {
  readonly numbers: readonly (number | null)[];
  readonly same: boolean;
}

/** So many lines are looked through for the next that is as it was. */
const FARTHEST = 40;

export function placed({ first, lines }: ISource, text: readonly string[]): IPlaced {
  const said = lines.map(line => line.trim());
  const now = text.map(line => line.trim());
  if (said.every((line, k) => now[first - 1 + k] === line)) {
    return { numbers: lines.map((_, k) => first + k), same: true };
  }
  const numbers: (number | null)[] = lines.map(() => null);
  const start = nearest(said, now, first - 1);
  for (let k = start.line, at = start.at; start.line >= 0 && k < said.length && at < now.length; k++, at++) {
    if (said[k] === now[at]) {
      numbers[k] = at + 1;
      continue;
    }
    const [gone, come] = nextAlike(said, now, k, at);
    if (gone < 0) {
      break;
    }
    // As many lines for as many: they were edited where they stand.
    for (let each = 0; gone === come && each < gone; each++) {
      numbers[k + each] = at + each + 1;
    }
    k += gone - 1;
    at += come - 1;
  }
  return { numbers, same: false };
}

/** The first line of the source that is still there, and where: the nearest place to where it was. */
function nearest(said: readonly string[], now: readonly string[], from: number): { line: number; at: number } {
  for (const [line, words] of said.entries()) {
    const places = words === '' ? [] : now.flatMap((one, at) => (one === words ? [at] : []));
    places.sort((a, b) => Math.abs(a - from - line) - Math.abs(b - from - line));
    if (places[0] !== undefined) {
      return { line, at: places[0] };
    }
  }
  return { line: -1, at: -1 };
}

/** How many lines of both to pass over until they say the same again; [-1, -1] where they do not. */
function nextAlike(said: readonly string[], now: readonly string[], k: number, at: number): [number, number] {
  for (let apart = 1; apart <= FARTHEST; apart++) {
    // Edited in place first, then lines that came, then lines that went.
    const ways = [...Array(apart + 1).keys()].sort((a, b) => Math.abs(apart - 2 * a) - Math.abs(apart - 2 * b) || a - b);
    for (const gone of ways) {
      const words = said[k + gone];
      if (words !== undefined && words !== '' && words === now[at + apart - gone]) {
        return [gone, apart - gone];
      }
    }
  }
  return [-1, -1];
}

/** A cell as it is looked for: the number beside it, and its text. */
export interface ICandidate {
  readonly count: number | null;
  readonly lines: () => readonly string[];
}

/**
 * Which of the cells has the source: the one with its number, if it still says the same or if none does, else one that
 * says the same where it said it. -1 where there is none.
 */
export function cellOf(number: number, source: ISource, cells: readonly ICandidate[]): number {
  const numbered = cells.flatMap(({ count }, k) => (count === number ? [k] : []));
  const says = (k: number) => placed(source, cells[k]!.lines()).same;
  const others = [...cells.keys()].filter(k => !numbered.includes(k));
  return numbered.find(says) ?? others.find(says) ?? numbered[0] ?? -1;
}

/**
 * Whether a file of the kernel's machine may be what the server calls `path`: its root may begin with `~`, which stands
 * for a folder that nobody here knows. The notebook that names the file is `from` on the server.
 */
export function mayBe(file: string, path: string, root: string, from: string): boolean {
  if (!isWhole(file)) {
    return pathsFrom(file, from).includes(path);
  }
  return mayBeWhole(file, path, root);
}

function mayBeWhole(file: string, path: string, root: string): boolean {
  const [whole, end] = [file.replaceAll('\\', '/'), root.replaceAll('\\', '/').replace(/\/$/, '')];
  if (!whole.endsWith(`/${path}`)) {
    return false;
  }
  const start = whole.slice(0, -path.length - 1);
  return end.startsWith('~') ? start !== '' && start.endsWith(end.slice(1)) : start === end;
}

/** Whether a path begins at the root of its machine. */
const isWhole = (file: string) => /^([\\/]|[A-Za-z]:)/.test(file);

/** A path that is named in a notebook goes from its folder, or from one above, as those of packages do. */
function pathsFrom(file: string, from: string): string[] {
  const folders = from.split('/').slice(0, -1);
  return [...folders.keys(), folders.length].reverse().flatMap(depth => {
    const parts = folders.slice(0, depth);
    for (const step of file.split('/')) {
      if (step === '..' && parts.length === 0) {
        return []; // above what the server shows
      }
      step === '..' ? parts.pop() : parts.push(step);
    }
    return [parts.join('/')];
  });
}

/** What the server may call a file that the notebook `from` names, the likeliest first: none outside of the root. */
export function pathsOf(file: string, root: string, from = ''): string[] {
  if (!isWhole(file)) {
    return pathsFrom(file, from);
  }
  const parts = file.replaceAll('\\', '/').split('/');
  const paths = parts.map((_, k) => parts.slice(k).join('/')).filter(path => path !== '' && mayBeWhole(file, path, root));
  // Homes are mostly `/home/ada`, and root's is one folder less.
  const depth = parts[1] === 'root' ? 2 : 3;
  const folders = root.split('/').length - 1;
  const far = (path: string) => Math.abs(parts.length - path.split('/').length - depth - folders);
  return paths.sort((a, b) => far(a) - far(b));
}
