/**
 * The outputs of a notebook, as far as our pictures stand in them.
 */

export const SCENE = 'application/vnd.triton-lab.scene.v1+json';
export const WIDGET = 'application/vnd.jupyter.widget-view+json';

/** The data of one output, by MIME type. */
export type Data = Readonly<Record<string, unknown>>;

export interface IOutput {
  readonly data: Data;
  readonly metadata: Data;
  setData(options: { data: never; metadata: never }): void;
}

export interface IOutputs {
  readonly length: number;
  get(index: number): IOutput;
}

/**
 * The data without the widget that stands in for our picture where nobody draws scenes, or null where there is none.
 *
 * The widget's model ends with its kernel, and converters prefer a widget that is gone to the picture that is there.
 */
export function withoutWidget(data: Data): Data | null {
  if (!(SCENE in data && WIDGET in data)) {
    return null;
  }
  const { [WIDGET]: _, ...rest } = data;
  return rest;
}

/** Take the widgets of our pictures out of these outputs, before they are saved. */
export function dropWidgets(outputs: IOutputs): void {
  for (let index = 0; index < outputs.length; index++) {
    const output = outputs.get(index);
    const data = withoutWidget(output.data);
    if (data) {
      output.setData({ data: data as never, metadata: output.metadata as never });
    }
  }
}
