export function forgetEntities(): void;
