/**
 * The `%%triton` line, as the target switch reads and writes it. What else stands in it stays as it is.
 */

/** As in `options.py`; a test there holds them together. */
export const TARGETS = ['auto', 'cpu', 'gpu', 'both'] as const;
export type TargetName = (typeof TARGETS)[number];

const COMPILE = '--compile';

interface IWord {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** What a line asks for: no word of a target means `auto`; `compile` is null where nothing is to be compiled, and empty for this machine's GPU. */
export interface IAsked {
  readonly target: TargetName;
  readonly compile: readonly string[] | null;
}

export function asked(line: string): IAsked {
  const { target, compile } = parsed(line);
  return { target: (target?.text as TargetName | undefined) ?? 'auto', compile: compile?.names ?? null };
}

/** The line with another target: `auto`, the default, is not written. */
export function withTarget(line: string, target: TargetName): string {
  const { magic, target: before } = parsed(line);
  const word = target === 'auto' ? '' : ` ${target}`;
  // A space in front goes with the word.
  const [from, to] = before ? [before.from - 1, before.to] : [magic, magic];
  return line.slice(0, from) + word + line.slice(to);
}

/** The line with these GPUs to compile for; none ends that. */
export function withCompile(line: string, names: readonly string[]): string {
  const { compile } = parsed(line);
  const option = names.length ? ` ${COMPILE} ${names.join(',')}` : '';
  if (compile) {
    return line.slice(0, compile.from - 1) + option + line.slice(compile.to);
  }
  return line.trimEnd() + option;
}

function parsed(line: string): {
  magic: number;
  target: IWord | null;
  compile: { from: number; to: number; names: string[] } | null;
} {
  const words: IWord[] = [...line.matchAll(/\S+/g)].map(({ 0: text, index }) => ({
    text,
    from: index,
    to: index + text.length
  }));
  const magic = words.shift()?.to ?? line.length;
  const isTarget = (word: IWord | undefined) => (TARGETS as readonly string[]).includes(word?.text ?? '');
  let target: IWord | null = null;
  let compile: { from: number; to: number; names: string[] } | null = null;
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const next = words[index + 1];
    if (word.text.startsWith(`${COMPILE}=`)) {
      compile = { from: word.from, to: word.to, names: namesOf(word.text.slice(COMPILE.length + 1)) };
    } else if (word.text === COMPILE) {
      const alone = !next || next.text.startsWith('-') || isTarget(next);
      compile = { from: word.from, to: alone ? word.to : next.to, names: alone ? [] : namesOf(next.text) };
      index += alone ? 0 : 1;
    } else if (isTarget(word)) {
      target ??= word;
    }
  }
  return { magic, target, compile };
}

function namesOf(text: string): string[] {
  return text
    .split(',')
    .map(name => name.trim())
    .filter(Boolean);
}
