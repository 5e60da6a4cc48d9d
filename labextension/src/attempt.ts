/**
 * A picture is drawn, or it is told in a sentence why not: whoever shows outputs shows what else they have.
 */

import { tr } from '../../triton_lab/views/front/localization.js';

/** What draws, and the errors that it throws on purpose: their words are for readers. */
interface IDraws {
  readonly CannotDraw: new (...words: never[]) => Error;
}

/** Load what draws, and draw with it; null, or why that was not possible and what to do. Never rejects. */
export async function attempt<T extends IDraws>(
  load: () => Promise<T>,
  draw: (front: T) => Promise<void> | void
): Promise<string | null> {
  let front: T;
  try {
    front = await load();
  } catch (error) {
    console.warn('triton-lab:', error);
    return tr('The code that draws pictures could not be loaded. Reload the page to see it live.');
  }
  try {
    await draw(front);
    return null;
  } catch (error) {
    return whyNot(error, front);
  }
}

/** Why something could not be drawn, and what to do. */
export function whyNot(error: unknown, { CannotDraw }: IDraws): string {
  if (error instanceof CannotDraw) {
    return tr('{reason} Run the cell again to see it live.', { reason: error.message });
  }
  console.warn('triton-lab:', error);
  return tr('This output could not be drawn. Run the cell again to see it live.');
}
