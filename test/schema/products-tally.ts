/** The statement that creates the tally of products. */
export const INSTALL_PRODUCTS_TALLY = `SELECT install_tally('products', 'productID', '{type,categoryID,brandID,inStock,categoryID+type,brandID+type,categoryID+brandID,categoryID+inStock,brandID+inStock,type+inStock,currency,currency+type,categoryID+currency,categoryID+type+inStock,brandID+type+inStock,currency+type+inStock,colours}', '{nameOrder,price,createdAt,updatedAt}', '{words}', '{categoryID+type+price}')`;

/** The same without the column `categoryID`. */
export const WITHOUT_CATEGORY = INSTALL_PRODUCTS_TALLY.replace('type,categoryID,', 'type,');

/** What an operator is told after `WITHOUT_CATEGORY`. */
export const CATEGORY_MISSING =
  'the tally of products counts by type, brandID, inStock, categoryID+type, brandID+type, ' +
  'categoryID+brandID, categoryID+inStock, brandID+inStock, type+inStock, currency, currency+type, categoryID+currency, ' +
  'categoryID+type+inStock, brandID+type+inStock, currency+type+inStock, colours, ' +
  'its entity by type, categoryID, brandID, inStock, categoryID+type, brandID+type, ' +
  'categoryID+brandID, categoryID+inStock, brandID+inStock, type+inStock, currency, currency+type, categoryID+currency, ' +
  'categoryID+type+inStock, brandID+type+inStock, currency+type+inStock, colours';
