/**
 * The language of all texts: JupyterLab's, if the server has a catalogue of ours for it. A picture keeps the language in
 * which its cell ran.
 */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ServerConnection } from '@jupyterlab/services';
import { ITranslator } from '@jupyterlab/translation';
import { Token } from '@lumino/coreutils';

import { catalogueFrom, tr, useCatalogue } from '../../triton_lab/views/front/localization.js';
import type { Catalogue } from '../../triton_lab/views/front/localization.js';
import { speak } from './kernel.ts';

/** As in `launcher_extension.py`. */
const URL = 'triton-lab/texts';
const PATIENCE = 3000; // ms that JupyterLab's start waits for a catalogue

/** The language as JupyterLab calls it, such as `zh-CN`: what needs it starts once its texts are there. */
export const ILanguage = new Token<string>('triton-lab:ILanguage', "The language of triton-lab's texts.");

const asked = new Map<string, Promise<Catalogue | null>>();

/** The catalogue of a language, asked for once; null for English, and where the server has none. */
export function catalogueOf(language: string): Promise<Catalogue | null> {
  if (/^en\b/.test(language)) {
    return Promise.resolve(null);
  }
  const known = asked.get(language) ?? requested(language).catch(() => null);
  asked.set(language, known);
  return known;
}

async function requested(language: string): Promise<Catalogue | null> {
  const settings = ServerConnection.makeSettings();
  const url = `${settings.baseUrl}${URL}?language=${encodeURIComponent(language)}`;
  const response = await ServerConnection.makeRequest(url, {}, settings);
  return response.ok ? catalogueFrom(await response.json()) : null;
}

/** A settings schema with its labels translated: JupyterLab's server does that for language packs alone. */
export function translated<T>(schema: T): T {
  const told = (value: unknown, key = ''): unknown => {
    if (typeof value === 'string') {
      return key === 'title' || key === 'description' ? tr(value) : value;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return value;
    }
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, told(inner, name)]));
  };
  return told(schema) as T;
}

export const language: JupyterFrontEndPlugin<string> = {
  id: 'triton-lab:language',
  description: "Puts triton-lab's texts into JupyterLab's language.",
  autoStart: true,
  optional: [ITranslator],
  provides: ILanguage,
  activate: async (_: JupyterFrontEnd, translator: ITranslator | null) => {
    const code = translator?.languageCode ?? 'en';
    const late = new Promise<null>(resolve => setTimeout(() => resolve(null), PATIENCE));
    useCatalogue(await Promise.race([catalogueOf(code), late]));
    speak(code);
    return code;
  }
};
