/** A page as it was received. */
export interface KeptPage {
  readonly etag: string;
  readonly body: string;
  readonly link: string | null;
}

/** The pages that were used last, by URL, in the order of their use. */
export class PageCache extends Map<string, KeptPage> {
  /** @param maximum the number of pages that are kept */
  constructor(private readonly maximum: number) {
    super();
  }

  /** Keeps a page that was used, be it new or not. */
  override set(url: string, page: KeptPage): this {
    this.delete(url);
    super.set(url, page);
    const [oldest = ''] = this.keys();
    if (this.size > this.maximum) this.delete(oldest);
    return this;
  }
}
