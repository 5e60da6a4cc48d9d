/** What `style.py` hands to the browser; the module itself is made from it. */
export interface Theme {
  ground: string;
  panel: string;
  ink: string;
  faint: string;
  line: string;
  accent: string;
  untouched: string;
  masked: string;
  mark: string;
  error: string;
  warning: string;
  palette: number[];
}
export const STYLE: {
  themes: { light: Theme; dark: Theme };
  pattern: { plain: number; stripes: number; hatch: number; dots: number; cross: number };
  font: string;
  mono: string;
  largestCell: number;
  darkestUnderInk: number;
  gapRight: number;
  gapDown: number;
  small: number;
  text: number;
};
